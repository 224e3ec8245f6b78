// Whether error bars are honest, on targets whose truth is known exactly.
#pragma once

#include "gains_options.hpp"

namespace rehmc::bench {

/// Prints a line for each kind of estimate of each summary, number of draws and target; after each
/// target, writes the results so far.
void write_calibration(const GainsOptions& options);

/// Checks the judgement itself, and gradients and truths of the targets, and prints how large a
/// share of the variances rare values carry; throws if something is wrong.
void check_targets(const GainsOptions& options);

}  // namespace rehmc::bench
