// What recycling states and gradients gains on the built-in models: the table of the documents.
#pragma once

#include "gains_options.hpp"

namespace rehmc::bench {

/// Prints a line for each summary of each target; after each target, writes the results so far.
void write_gains_table(const GainsOptions& options);

}  // namespace rehmc::bench
