// Checks every file of a run folder, and compares them with each other.
#include "rehmc/job/check_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "chain_checkpoint.hpp"
#include "chain_sinks.hpp"
#include "output_checksums.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/core/json_depth.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/job/run_lock.hpp"
#include "rehmc/output/checkpoint.hpp"
#include "rehmc/output/netcdf.hpp"
#include "rehmc/output/stan_csv.hpp"
#include "still_usable.hpp"

namespace rehmc {

namespace {

namespace files = std::filesystem;
using Kind = Finding::Kind;

/// What follows the sealed bytes of a file.
std::string rest_of(const files::path& path, const FileSeal& seal) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(seal.bytes));
  return {std::istreambuf_iterator<char>(in), {}};
}

class Inspection {
 public:
  Inspection(const RunFolder& folder, const Manifest& manifest, bool with_states)
      : folder_(folder),
        manifest_(manifest),
        with_states_(with_states),
        essence_(essence(manifest)),
        columns_(recorded_columns(names_of(manifest.quantities), manifest.settings)) {}

  std::vector<Finding> inspect() {
    say(Kind::good, fmt::format("{}: model {}, seed {}, rehmc {}", folder_.manifest().string(),
                                manifest_.model.name, manifest_.seed, manifest_.version));
    if (const std::string writer = writer_of(folder_); !writer.empty()) {
      say(Kind::note, fmt::format("{} is writing into this folder", writer));
    }
    inspect_inputs();
    const auto chains = static_cast<std::size_t>(manifest_.settings.sample.chains);
    const std::size_t begun = std::min(chains, folder_.last_chain());
    for (std::size_t c = 0; c < begun; ++c) inspect_chain(c);
    if (begun < chains) inspect_not_begun(begun, chains);
    inspect_ends();
    return std::move(findings_);
  }

 private:
  void say(Kind kind, std::string text) { findings_.push_back({kind, std::move(text)}); }

  /// Runs one check; whatever it throws is a problem.
  template <class Look>
  void attempt(Look&& look, const std::string& advice = "") {
    try {
      look();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      say(Kind::problem, error.what() + advice);
    }
  }

  /// A problem unless the file has this hash.
  void compare(const files::path& path, const std::string& hash, const std::string& advice) {
    attempt([&] {
      if (!files::exists(path)) {
        say(Kind::problem, fmt::format("{}: is missing{}", path.string(), advice));
      } else if (file_hash(path) != hash) {
        say(Kind::problem,
            fmt::format("{}: was changed after rehmc wrote it: its checksum does not "
                        "match{}",
                        path.string(), advice));
      } else {
        say(Kind::good, fmt::format("{}: as it was written", path.string()));
      }
    });
  }

  std::string command(std::string_view name) const {
    return fmt::format("rehmc {} {}", name, shell_word(folder_.path().string()));
  }

  void inspect_inputs() {
    for (const auto& [name, hash] : manifest_.files) {
      for (const files::path& path : {folder_.program(), folder_.data()}) {
        if (path.filename() != name) continue;
        compare(path, hash, "; without it the run can be read, but neither resumed nor extended");
      }
    }
  }

  void inspect_chain(std::size_t chain) {
    const StoredCheckpoint stored = read_checkpoint(folder_.checkpoint(chain));
    if (!stored.found) {
      unfinished_ = true;
      draws_.push_back(0);
      inspect_missing(chain, stored.problems);
      return;
    }
    for (const std::string& problem : stored.problems) {
      say(Kind::problem, problem + "; the previous checkpoint is valid and will be used");
    }
    attempt(
        [&] { inspect_stored(chain, parse_checkpoint(stored.content, folder_, essence_, chain)); });
  }

  /// Chains of which there is no file.
  void inspect_not_begun(std::size_t first, std::size_t end) {
    unfinished_ = true;
    draws_.push_back(0);
    const std::string chains = first + 1 == end ? fmt::format("chain {}", end)
                                                : fmt::format("chains {} to {}", first + 1, end);
    if (files::exists(folder_.summary())) {
      // Which is written when all chains have draws.
      say(Kind::problem, fmt::format("{}: all files of {} are missing; {} starts over",
                                     folder_.path().string(), chains, command("resume")));
    } else {
      say(Kind::note, fmt::format("{} {} not started", chains, first + 1 == end ? "has" : "have"));
    }
  }

  /// A chain without a checkpoint: it did not get that far, or its checkpoints were lost.
  void inspect_missing(std::size_t chain, const std::vector<std::string>& problems) {
    const bool missing = std::all_of(problems.begin(), problems.end(),
                                     [](const auto& p) { return p.ends_with("is missing"); });
    if (missing && !files::exists(folder_.draws(chain))) {
      return inspect_not_begun(chain, chain + 1);
    }
    const std::string advice = fmt::format("; {} starts the chain over", command("resume"));
    // Whatever ended the run before the first checkpoint also ended it before the summary.
    if (missing && !files::exists(folder_.summary())) {
      say(Kind::note, fmt::format("chain {} has no checkpoint yet{}", chain + 1, advice));
      return;
    }
    for (const std::string& problem : problems) say(Kind::problem, problem + advice);
  }

  void inspect_stored(std::size_t chain, const ChainCheckpoint& checkpoint) {
    const ChainFacts facts = checkpoint.facts();
    draws_.push_back(checkpoint.draws());
    const auto goal = static_cast<std::uint64_t>(manifest_.settings.sample.draws);
    unfinished_ = unfinished_ || (manifest_.settings.until.empty() && checkpoint.draws() < goal);
    say(Kind::good, fmt::format("{}: iteration {}, {} draws", folder_.checkpoint(chain).string(),
                                facts.iterations, checkpoint.draws()));
    if (manifest_.settings.store_draws) {
      if (with_states_) inspect_states(chain, checkpoint);
      inspect_csv(chain, checkpoint, facts);
      inspect_recycled(chain, checkpoint);
    }
    if (!checkpoint.metric_hash.empty()) {
      compare(folder_.metric(chain), checkpoint.metric_hash,
              fmt::format("; {} writes it again", command("resume")));
    }
  }

  void inspect_states(std::size_t chain, const ChainCheckpoint& checkpoint) {
    attempt([&] {
      const ChainResult result = load_chain(folder_, chain, manifest_, columns_, checkpoint);
      for (std::size_t i = 0; i < result.record.size(); ++i) {
        // Other quantities may be NaN in a healthy run: the model could not compute them.
        if (!std::isfinite(result.record.log_density[i])) {
          say(Kind::problem, fmt::format("{}: the log density of draw {} is not finite",
                                         folder_.states(chain).string(), i + 1));
          return;
        }
      }
      say(Kind::good,
          fmt::format("{}: {} draws", folder_.states(chain).string(), checkpoint.draws()));
    });
  }

  void inspect_csv(std::size_t chain, const ChainCheckpoint& checkpoint, const ChainFacts& facts) {
    const files::path path = folder_.draws(chain);
    const FileSeal& seal = checkpoint.draws_seal;
    const std::string advice = still_usable(folder_, chain, path);
    attempt(
        [&] {
          if (!files::exists(path)) throw DataError(fmt::format("{}: is missing", path.string()));
          std::string head;
          read_sealed(path, seal, [&](std::string_view piece) {
            const std::uint64_t hole_end = seal.hole_begin + seal.hole_size;
            if (head.size() < hole_end) head.append(piece.substr(0, hole_end - head.size()));
          });
          const std::string rest = rest_of(path, seal);
          const std::string timing = stan_timing(facts.seconds_warmup, facts.seconds_sampling);
          if (!timing.starts_with(rest)) {
            inspect_rest(path, rest);
          } else if (seal.bytes > 0) {
            inspect_counts(path, head.substr(seal.hole_begin), checkpoint.draws());
          }
          say(Kind::good, fmt::format("{}: {} draws, thinned by {}", path.string(),
                                      checkpoint.draws(), manifest_.settings.thin));
        },
        advice);
  }

  /// What was written after the last checkpoint, or instead of the comments at the end.
  void inspect_rest(const files::path& path, const std::string& rest) {
    const std::string usual = stan_timing(0, 0);
    if (rest.starts_with(usual.substr(0, usual.find(':')))) {
      throw DataError(fmt::format("{}: the comments at its end were changed", path.string()));
    }
    say(Kind::note, fmt::format("{}: has {} more bytes than the checkpoint records; {} discards "
                                "them and draws them again",
                                path.string(), rest.size(), command("resume")));
  }

  /// What changes in place: the number of draws and, in the next line, that of iterations of a
  /// pooled warmup. A process that was killed may have counted what it had no row for yet.
  void inspect_counts(const files::path& path, const std::string& hole, std::uint64_t draws) const {
    const std::size_t line_end = hole.find('\n');
    const auto thin = static_cast<std::uint64_t>(manifest_.settings.thin);
    const auto rows = [&](std::uint64_t count) { return (count + thin - 1) / thin; };
    const std::string samples = hole.substr(0, line_end);
    const std::optional<std::uint64_t> found = padded_number(samples);
    if (!found || rows(*found) != rows(draws)) {
      throw DataError(
          fmt::format("{}: was changed after rehmc wrote it: num_samples is '{}', expected {}",
                      path.string(), samples.substr(0, samples.find(' ')), draws));
    }
    if (line_end == std::string::npos) return;
    constexpr std::string_view before = "\n#     num_warmup = ";
    const std::string rest = hole.substr(line_end);
    const auto most = static_cast<std::uint64_t>(manifest_.settings.sample.warmup.iterations);
    if (rest.starts_with(before)) {
      const std::optional<std::uint64_t> warmup = padded_number(rest.substr(before.size()));
      if (warmup && *warmup <= most) return;
    }
    throw DataError(
        fmt::format("{}: was changed after rehmc wrote it: num_warmup is not a number up to {}",
                    path.string(), most));
  }

  /// A number followed by blanks alone.
  static std::optional<std::uint64_t> padded_number(const std::string& field) {
    std::uint64_t number = 0;
    const char* const last = field.data() + field.size();
    const auto [end, error] = std::from_chars(field.data(), last, number);
    const bool blank = std::all_of(end, last, [](char c) { return c == ' '; });
    return error == std::errc{} && blank ? std::optional(number) : std::nullopt;
  }

  void inspect_recycled(std::size_t chain, const ChainCheckpoint& checkpoint) {
    if (!writes_recycled_csv(manifest_.settings)) return;
    const files::path path = folder_.recycled(chain);
    attempt(
        [&] {
          if (!files::exists(path)) throw DataError(fmt::format("{}: is missing", path.string()));
          read_sealed(path, checkpoint.recycled_seal, [](std::string_view) {});
          const std::string rest = rest_of(path, checkpoint.recycled_seal);
          if (!rest.empty()) {
            inspect_rest(path, rest);
          } else {
            say(Kind::good, fmt::format("{}: complete", path.string()));
          }
        },
        still_usable(folder_, chain, path));
  }

  /// The files that are written when a run ends or is interrupted.
  void inspect_ends() {
    const std::string again = fmt::format("; {} writes it again", command("resume"));
    if (unfinished_) {
      say(Kind::note, fmt::format("the run is not finished; continue with: {}", command("resume")));
    }
    std::vector<files::path> wanted{folder_.summary(), folder_.report(), folder_.checksums()};
    if (writes_netcdf() && manifest_.settings.store_draws) wanted.push_back(folder_.netcdf());
    for (const files::path& path : wanted) {
      if (files::exists(path)) continue;
      say(unfinished_ ? Kind::note : Kind::problem,
          fmt::format("{}: is missing{}", path.string(), again));
    }
    attempt([&] { inspect_checksums(again); });
    attempt([&] { inspect_summary(again); });
    for (const auto& entry : files::directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".tmp") {
        say(Kind::note,
            fmt::format("{}: left over from a crash; can be deleted", entry.path().string()));
      }
    }
  }

  void inspect_checksums(const std::string& again) {
    const Checksums checksums = read_checksums(folder_);
    for (const files::path& path : {folder_.summary(), folder_.estimates(), folder_.report(),
                                    folder_.netcdf(), folder_.trajectory()}) {
      const auto found = checksums.find(path.filename().string());
      const bool may_be_deleted = path == folder_.estimates();
      if (found != checksums.end() && may_be_deleted && !files::exists(path)) {
        say(Kind::note, fmt::format("{}: was deleted; summary and report take longer without it",
                                    path.string()));
      } else if (found != checksums.end()) {
        compare(path, found->second, again);
      } else if (!checksums.empty() && files::exists(path)) {
        say(Kind::note, fmt::format("{}: has no checksum{}", path.string(), again));
      }
    }
  }

  void inspect_summary(const std::string& again) {
    const std::uint64_t shortest =
        draws_.empty() ? 0 : *std::min_element(draws_.begin(), draws_.end());
    if (!files::exists(folder_.summary())) return;
    const std::string text = read_file(folder_.summary());
    require_json_depth(text, folder_.summary().string());
    std::uint64_t draws = 0;
    try {
      draws = nlohmann::json::parse(text).at("draws").get<std::uint64_t>();
    } catch (const nlohmann::json::exception& error) {
      throw DataError(
          fmt::format("{}: is damaged: {}{}", folder_.summary().string(), error.what(), again));
    }
    if (draws == shortest) {
      say(Kind::good, fmt::format("{}: covers all {} draws", folder_.summary().string(), draws));
    } else {
      say(unfinished_ ? Kind::note : Kind::problem,
          fmt::format("{}: covers {} draws per chain, but there are {}{}",
                      folder_.summary().string(), draws, shortest, again));
    }
  }

  const RunFolder& folder_;
  const Manifest& manifest_;
  bool with_states_;
  std::string essence_;
  std::vector<std::size_t> columns_;
  std::vector<std::uint64_t> draws_;
  bool unfinished_ = false;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_run(const RunFolder& folder) {
  const Manifest manifest = read_manifest(folder);
  return Inspection(folder, manifest, true).inspect();
}

std::vector<std::string> damaged_files(const RunFolder& folder, const Manifest& manifest) {
  std::vector<std::string> damaged;
  if (!writer_of(folder).empty()) return damaged;  // its files may be about to be replaced
  for (Finding& finding : Inspection(folder, manifest, false).inspect()) {
    if (finding.kind == Kind::problem) damaged.push_back(std::move(finding.text));
  }
  return damaged;
}

}  // namespace rehmc
