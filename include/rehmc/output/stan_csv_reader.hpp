// Stan CSV, read: the draws of CmdStan, cmdstanr, rstan and rehmc.
#pragma once

#include <filesystem>
#include <span>

#include "rehmc/output/sample_result.hpp"

namespace rehmc {

/// Reads the chains that CmdStan, cmdstanr, rstan or rehmc wrote, one file per chain. Columns of
/// the sampler are known by name, wherever they stand, and may be missing: then their series is
/// NaN, or 0 for counts. Rows of warmup go to ChainResult::warmup. Recycled states are not in these
/// files: the result says `none`, and moments over all states are empty. A unit metric leaves
/// Tuning::metric empty, since the file does not tell its dimension; counts of gradients are over
/// the rows that are there.
///
/// DataError names the file, line and column, what was found and what was expected; files must have
/// the same columns and the same number of draws.
SampleResult read_stan_csv(std::span<const std::filesystem::path> files);

}  // namespace rehmc
