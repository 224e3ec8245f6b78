// Stan CSV: the format in which CmdStan stores draws, written and read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "rehmc/adapt/warmup.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/output/chain_record.hpp"
#include "rehmc/output/sample_result.hpp"

namespace rehmc {

/// What the comments at the head of one chain's file tell.
struct StanCsvInfo {
  std::string model;           ///< its name; the file says `<name>_model`, as Stan does
  std::string version;         ///< of rehmc
  std::string start_datetime;  ///< such as `2024-05-01 12:00:00 UTC`
  int chain = 1;               ///< counted from 1
  int chains = 1;
  std::uint64_t seed = 0;
  std::uint64_t draws = 1000;  ///< before thinning
  int thin = 1;
  bool save_warmup = false;
  KernelSettings kernel{};
  WarmupSettings warmup{};
  std::string data_file{};
  std::string init = "2";  ///< half-width of the box of random starts, or a file
  std::string output_file{};
};

/// The head of a file, and where in it stands the number of draws, which is not known for sure
/// before the last draw.
struct StanCsvHead {
  std::string text;
  std::size_t num_samples_at = 0;
  std::size_t num_samples_width = 0;
};

/// The comments, then the line of columns: Stan's seven, ours (`int_time__`, `energy_error__`,
/// `n_recycled__`, `max_depth_hit__`, `mass__`), then the parameters. Readers take all names that
/// end in `__` for statistics of the sampler.
StanCsvHead stan_csv_head(const StanCsvInfo& info, const std::vector<std::string>& names);

/// What to write over `num_samples_width` bytes at `num_samples_at` once there are so many draws,
/// before thinning. Readers refuse a file whose number of rows is not ceil(draws / thin).
std::string num_samples_field(std::uint64_t draws, std::size_t width);

/// One line: draw number `draw` of the record.
void append_stan_row(std::string& to, const ChainRecord& record, std::size_t draw);

/// The comments between the rows of warmup and those of sampling. The metric is written in the form
/// that the head announced: some readers insist.
std::string stan_adaptation(const StanCsvInfo& info, const Tuning& tuning);

/// The comments after the last row.
std::string stan_timing(double seconds_warmup, double seconds_sampling);

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
