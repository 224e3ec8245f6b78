// The JSON of one parameter: its row of the table, its estimates, its plots.
#pragma once

#include <cstddef>

#include "page_json.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/summary/summary.hpp"
#include "shown_draws.hpp"

namespace rehmc::report {

/// What the table shows.
Json table_row(const SampleResult& result, const ParameterSummary& row, std::size_t parameter,
               std::size_t spark_stride);

/// Adds what the parameter's own plots show.
void add_plots(Json& json, const SampleResult& result, const ParameterSummary& row,
               const ShownDraws& shown, std::size_t parameter, std::size_t curve_stride);

}  // namespace rehmc::report
