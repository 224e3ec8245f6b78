// Private to running/: regression of the sums over chunks on those of Stein features.
#pragma once

#include <cstddef>

#include "pooled_chunks.hpp"
#include "rehmc/estimate/recycled.hpp"
#include "rehmc/sharpen/sharpened.hpp"

namespace rehmc {

/// Mean and sd of the recycled estimate, sharpened. `recycled` has errors; `spread_of_squares` is
/// Var((x - mean)^2).
SharpenedEstimate sharpen_chunks(Summaries chains, std::size_t coordinate, const Estimate& recycled,
                                 double spread_of_squares, bool disagree);

}  // namespace rehmc
