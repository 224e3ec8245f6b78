// A small run in a folder, and what somebody makes of it whose checksums fit.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rehmc/core/archive.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/job/finish.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/output/checkpoint.hpp"
#include "src/job/chain_checkpoint.hpp"

namespace rehmc::testing {

struct PlainNormal {
  std::size_t dimension() const { return 2; }
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = -x[i];
    return -0.5 * (x[0] * x[0] + x[1] * x[1]);
  }
};

/// A normal that reports what no coordinate alone tells, and can end its run after some calls.
class ReportingNormal {
 public:
  explicit ReportingNormal(std::shared_ptr<std::atomic<int>> interrupts = {}, int calls = 0)
      : interrupts_(std::move(interrupts)), calls_(calls) {}

  std::size_t dimension() const { return 2; }
  double operator()(std::span<const double> x, std::span<double> gradient) {
    if (interrupts_ && --calls_ == 0) *interrupts_ = 2;
    return PlainNormal{}(x, gradient);
  }
  std::vector<Quantity> quantities() const {
    return {{"x", 0, false}, {"y", 1, false}, {"product"}};
  }
  void evaluate_quantities(std::span<const double> x, std::span<double> values,
                           Stream* /*stream*/) const {
    values[0] = x[0];
    values[1] = x[1];
    values[2] = x[0] * x[1];
  }

 private:
  std::shared_ptr<std::atomic<int>> interrupts_;
  int calls_;
};

/// The kinds of runs whose folders are edited.
enum class RunKind : std::uint8_t { stored, reporting, bounded, warming_up };
inline constexpr std::size_t run_kinds = 4;

inline Density density_of(RunKind kind) {
  const bool reports = kind == RunKind::reporting || kind == RunKind::warming_up;
  if (reports) return Density(ReportingNormal{});
  return Density(PlainNormal{});
}

/// The files of a run as they were written.
struct WrittenRun {
  Manifest manifest;
  std::map<std::string, std::string> files;
};

inline void restore(const RunFolder& folder, const WrittenRun& run) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::filesystem::remove(entry.path());
  }
  for (const auto& [name, bytes] : run.files) {
    std::ofstream(folder.path() / name, std::ios::binary) << bytes;
  }
}

inline WrittenRun write_run(RunKind kind, const RunFolder& folder) {
  restore(folder, {});
  Density density = density_of(kind);
  const auto interrupts = std::make_shared<std::atomic<int>>(0);
  constexpr int calls = 60;
  if (kind == RunKind::warming_up) density = Density(ReportingNormal(interrupts, calls));
  WrittenRun run;
  run.manifest.model = {"normal", "0"};
  run.manifest.version = version();
  run.manifest.created = utc_now();
  run.manifest.seed = 1;
  run.manifest.quantities = density.quantities();
  run.manifest.coordinates = density.names();
  run.manifest.settings.sample.chains = 2;
  run.manifest.settings.sample.warmup.iterations = 30;
  run.manifest.settings.sample.threads = 1;
  run.manifest.settings.sample.draws = 20;
  run.manifest.settings.store_draws = kind != RunKind::bounded;
  write_manifest(folder, run.manifest);
  Job job(density, run.manifest, folder);
  job.run(*interrupts);
  const bool complete = job.complete();
  if (complete) finish_run(folder, run.manifest, std::move(job).take_result(), &density);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    run.files[entry.path().filename()] = read_file(entry.path());
  }
  return run;
}

/// A part of a folder that is edited beneath its checksum; `fit` is the run as a saved fit.
enum class Part : std::uint8_t { checkpoint, chain, states, estimates, summary, trajectory, fit };
inline constexpr std::size_t parts = 7;

/// Reads parts of the first chain, or of all, and puts an edited part back with all checksums that
/// depend on it.
class Forgery {
 public:
  Forgery(const RunFolder& folder, const WrittenRun& run) : folder_(folder), run_(run) {
    const StoredCheckpoint stored = read_checkpoint(folder.checkpoint(0));
    origin_ = origin_of(essence(run.manifest), 0);
    content_ = stored.content;
  }

  std::string of(Part part) const {
    switch (part) {
      case Part::checkpoint: {
        ArchiveWriter origin;
        origin(origin_);
        return content_.substr(origin.bytes().size());
      }
      case Part::chain:
        return checkpoint().chain;
      case Part::states:
        return file(folder_.states(0));
      case Part::estimates: {
        const std::string bytes = file(folder_.estimates());
        return bytes.substr(0, bytes.size() - std::min(bytes.size(), hash_size()));
      }
      case Part::summary:
        return file(folder_.summary());
      case Part::trajectory:
        return file(folder_.trajectory());
      case Part::fit:
        break;
    }
    return {};
  }

  void put(Part part, const std::string& bytes) {
    switch (part) {
      case Part::checkpoint: {
        ArchiveWriter content;
        content(origin_);
        return put_content(content.bytes() + bytes);
      }
      case Part::chain: {
        ChainCheckpoint changed = checkpoint();
        changed.chain = bytes;
        return put_checkpoint(changed);
      }
      case Part::states: {
        write(folder_.states(0), bytes);
        ChainCheckpoint changed = checkpoint();
        Sealer sealer;
        sealer.add(bytes);
        changed.states.seal = sealer.seal();
        return put_checkpoint(changed);
      }
      case Part::estimates:
        return put_listed(folder_.estimates(), bytes + content_hash(bytes));
      case Part::summary:
        return put_listed(folder_.summary(), bytes);
      case Part::trajectory:
        return put_listed(folder_.trajectory(), bytes);
      case Part::fit:
        break;
    }
  }

 private:
  static std::size_t hash_size() { return content_hash("").size(); }
  static std::string file(const std::filesystem::path& path) {
    return std::filesystem::exists(path) ? read_file(path) : std::string();
  }
  static void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ChainCheckpoint checkpoint() const { return ArchiveReader(content_).get<ChainCheckpoint>(); }
  void put_checkpoint(const ChainCheckpoint& checkpoint) {
    ArchiveWriter content;
    content(checkpoint);
    put_content(content.bytes());
  }
  /// Without waiting for the disk, as write_checkpoint() would.
  void put_content(std::string content) {
    content_ = std::move(content);
    ArchiveWriter seal;
    seal(static_cast<std::uint64_t>(content_.size()), content_hash(content_));
    write(folder_.checkpoint(0), "rehmc checkpoint 3\n" + seal.bytes() + content_);
  }
  /// A file whose checksum is in a list of its own.
  void put_listed(const std::filesystem::path& path, const std::string& bytes) {
    write(path, bytes);
    std::string list;
    for (const auto& [name, ignored] : run_.files) {
      const std::filesystem::path listed = folder_.path() / name;
      if (name != "checksums.xxh" && std::filesystem::exists(listed)) {
        list += content_hash(read_file(listed)) + "  " + name + "\n";
      }
    }
    write(folder_.checksums(), list);
  }

  const RunFolder& folder_;
  const WrittenRun& run_;
  std::string origin_;
  std::string content_;
};

}  // namespace rehmc::testing
