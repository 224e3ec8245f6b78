// Stan CSV: the format in which CmdStan stores draws, written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rehmc/adapt/warmup.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/sink.hpp"

namespace rehmc {

/// The contents of the comments at the head of one chain's file.
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
  std::size_t dimension = 1;  ///< of the metric
  std::string data_file{};
  std::string init = "2";  ///< half-width of the box of random starts, or a file
  std::string output_file{};
};

/// The head of a file, and the position of the number of draws in it, which is only known after the
/// last draw.
struct StanCsvHead {
  std::string text;
  std::size_t num_samples_at = 0;
  std::size_t num_samples_width = 0;
};

/// The comments, then the line of columns: Stan's seven, ours (`int_time__`, `energy_error__`,
/// `n_recycled__`, `max_depth_hit__`, `mass__`), then the parameters. Readers treat all names that
/// end in `__` as sampler statistics.
StanCsvHead stan_csv_head(const StanCsvInfo& info, const std::vector<std::string>& names);

/// What to write over `num_samples_width` bytes at `num_samples_at` once there are this many draws,
/// before thinning. Readers reject a file whose number of rows is not ceil(draws / thin).
std::string num_samples_field(std::uint64_t draws, std::size_t width);

/// One line: a draw.
void append_stan_row(std::string& to, const ReadDraw& draw);

/// The comments between the rows of warmup and those of sampling. The metric is written in the form
/// that the head announced: some readers insist.
std::string stan_adaptation(const StanCsvInfo& info, const Tuning& tuning);

/// The comments after the last row.
std::string stan_timing(double seconds_warmup, double seconds_sampling);

/// Writes the Stan CSV file of a chain: every `info.thin`-th draw. Unless rows of warmup are
/// recorded, the head is written after a pooled warmup, and states what that did: until then the
/// file is empty.
class StanCsvSink final : public Sink {
 public:
  /// A new file.
  StanCsvSink(const std::filesystem::path& path, StanCsvInfo info,
              const std::vector<std::string>& names);
  /// Appends after the sealed bytes of a file, which hold this many draws before thinning.
  StanCsvSink(const std::filesystem::path& path, StanCsvInfo info,
              const std::vector<std::string>& names, const FileSeal& seal, std::uint64_t draws);

  void begin(const SamplingStart& start) override;
  void add(const ReadDraw& draw, std::uint64_t index) override;
  void sync() override;
  void finish(const ChainFacts& facts) override;
  std::size_t waiting() const override { return file_.waiting().size(); }
  /// As of the last sync, without what finish() writes.
  FileSeal seal() const { return file_.seal(); }

 private:
  /// What is written over the numbers of draws, and of iterations of warmup in the next line.
  std::string counts() const;
  bool waits_for_warmup() const;
  void write_head(const std::vector<std::string>& names);
  std::string counts_with_warmup(std::uint64_t warmup) const;

  GrowingFile file_;
  StanCsvInfo info_;
  StanCsvHead head_;                                       ///< without its text
  std::optional<std::vector<std::string>> names_of_head_;  ///< until it is written
  std::uint64_t draws_ = 0;
  std::uint64_t warmup_ = 0;  ///< iterations of warmup, if they are recorded
};

}  // namespace rehmc
