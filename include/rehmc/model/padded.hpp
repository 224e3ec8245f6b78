// A density whose batched calls all have the same number of columns.
#pragma once

#include <cstddef>

#include "rehmc/model/log_density.hpp"

namespace rehmc {

/// The same density, but every call, of a single point too, is a batched call of exactly this many
/// columns; the first point fills those that nobody asked for. For models that round differently
/// for different numbers of columns, as compilers of array programs do: their draws then depend on
/// this number alone, not on how many chains still run. ConfigError for 0 columns; ModelError if
/// the density has no batched call.
Density padded(const Density& density, std::size_t columns);

}  // namespace rehmc
