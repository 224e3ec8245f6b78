// Stan CSV, read: the draws of CmdStan, cmdstanr, rstan and rehmc.
#pragma once

#include <filesystem>
#include <span>

#include "rehmc/output/sample_result.hpp"

namespace rehmc {

/// Reads the chains that CmdStan, cmdstanr, rstan or rehmc wrote, one file per chain. The sampler's
/// columns are recognised by name, in any order, and may be missing: then their series is NaN, or 0
/// for counts. Rows of warmup go to ChainResult::warmup. Recycled states are not in these files:
/// the result says `none`, and moments over all states are empty. A unit metric leaves
/// Tuning::metric empty, because the file does not contain its dimension; gradient counts are sums
/// over the rows in the file.
///
/// DataError names the file, line and column, what was found and what was expected; files must have
/// the same columns and the same number of draws.
SampleResult read_stan_csv(std::span<const std::filesystem::path> files);

}  // namespace rehmc
