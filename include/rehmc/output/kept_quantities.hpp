// Quantities that a model computes of the kept states of a run, read off their positions together.
#pragma once

#include <cstddef>
#include <vector>

#include "rehmc/model/log_density.hpp"
#include "rehmc/output/sample_result.hpp"

namespace rehmc {

/// Puts the values of these columns of a result at all kept states into its records, with their
/// moments per draw, and counts the states for which the model failed. States whose values are in
/// the records already are not read again. Does nothing where quantities are coordinates: their
/// values are always known.
void read_kept(const Density& density, const std::vector<std::size_t>& columns,
               SampleResult& result);

/// The same where every column follows from one coordinate by a known map; else false.
bool read_kept_without_model(const std::vector<std::size_t>& columns, SampleResult& result);

/// The columns that the values of a kept state are known or can be computed of: all but those that
/// are drawn at random, or all if the run recycles these as well.
std::vector<std::size_t> columns_of_states(const SampleResult& result);

/// Those of them that are parameters, or are drawn at random but recycled.
std::vector<std::size_t> columns_of_parameters(const SampleResult& result);

}  // namespace rehmc
