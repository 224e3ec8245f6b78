// Checks every file of a run folder, and compares them with each other.
#include "rehmc/job/check_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "chain_checkpoint.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/checkpoint.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/metric_file.hpp"
#include "rehmc/output/stan_csv_reader.hpp"

namespace rehmc {

namespace {

namespace files = std::filesystem;
using Kind = Finding::Kind;

class Inspection {
 public:
  Inspection(const RunFolder& folder, const Manifest& manifest)
      : folder_(folder),
        manifest_(manifest),
        columns_(recorded_columns(names_of(manifest.quantities), manifest.settings)) {}

  std::vector<Finding> inspect() {
    say(Kind::good, fmt::format("{}: model {}, seed {}, rehmc {}", folder_.manifest().string(),
                                manifest_.model.name, manifest_.seed, manifest_.version));
    for (int c = 0; c < manifest_.settings.sample.chains; ++c) {
      inspect_chain(static_cast<std::size_t>(c));
    }
    inspect_ends();
    return std::move(findings_);
  }

 private:
  void say(Kind kind, std::string text) { findings_.push_back({kind, std::move(text)}); }

  /// Runs one check; whatever it throws is a problem.
  template <class Look>
  void attempt(Look&& look) {
    try {
      look();
    } catch (const std::exception& error) {
      say(Kind::problem, error.what());
    }
  }

  void inspect_chain(std::size_t chain) {
    const StoredCheckpoint stored = read_checkpoint(folder_.checkpoint(chain));
    if (!stored.found) {
      const bool begun = files::exists(folder_.draws(chain));
      const bool missing = std::all_of(stored.problems.begin(), stored.problems.end(),
                                       [](const auto& p) { return p.ends_with("is missing"); });
      unfinished_ = true;
      draws_.push_back(0);
      if (missing && !begun) {
        say(Kind::note, fmt::format("chain {} has not started", chain + 1));
      } else {
        for (const std::string& problem : stored.problems) say(Kind::problem, problem);
        say(Kind::note, fmt::format("chain {} will start over when the run is resumed", chain + 1));
      }
      return;
    }
    for (const std::string& problem : stored.problems) {
      say(Kind::problem, problem + "; the previous checkpoint is valid and will be used");
    }
    attempt([&] {
      const ChainCheckpoint checkpoint = parse_checkpoint(stored.content);
      const ChainFacts facts = checkpoint.facts();
      draws_.push_back(checkpoint.draws());
      const auto goal = static_cast<std::uint64_t>(manifest_.settings.sample.draws);
      unfinished_ = unfinished_ || (manifest_.settings.until.empty() && checkpoint.draws() < goal);
      say(Kind::good, fmt::format("{}: iteration {}, {} draws", folder_.checkpoint(chain).string(),
                                  facts.iterations, checkpoint.draws()));
      if (manifest_.settings.store_draws) {
        inspect_states(chain, checkpoint);
        inspect_csv(chain, checkpoint);
      }
      if (facts.sampling) {
        attempt([&] {
          read_metric_file(folder_.metric(chain), manifest_.coordinates.size());
          say(Kind::good, fmt::format("{}: can be read", folder_.metric(chain).string()));
        });
      }
    });
  }

  void inspect_states(std::size_t chain, const ChainCheckpoint& checkpoint) {
    attempt([&] {
      const ChainResult result = load_chain(folder_, chain, manifest_, columns_, checkpoint);
      for (std::size_t i = 0; i < result.record.size(); ++i) {
        const auto draw = result.record.draw(i);
        if (!std::all_of(draw.begin(), draw.end(), [](double x) { return std::isfinite(x); })) {
          say(Kind::problem,
              fmt::format("{}: draw {} is not finite", folder_.states(chain).string(), i + 1));
          return;
        }
      }
      say(Kind::good, fmt::format("{}: {} draws, all finite", folder_.states(chain).string(),
                                  checkpoint.draws()));
    });
  }

  void inspect_csv(std::size_t chain, const ChainCheckpoint& checkpoint) {
    const files::path path = folder_.draws(chain);
    attempt([&] {
      if (!files::exists(path)) throw DataError(fmt::format("{}: is missing", path.string()));
      if (checkpoint.draws() == 0) return;
      const SampleResult read = read_stan_csv(std::array{path});
      const auto thin = static_cast<std::uint64_t>(manifest_.settings.thin);
      const std::uint64_t expected = (checkpoint.draws() + thin - 1) / thin;
      const std::uint64_t found = read.chains.front().record.size();
      if (found > expected) {
        say(Kind::note, fmt::format("{}: has {} more draws than the checkpoint records; rehmc "
                                    "resume {} discards them and draws them again",
                                    path.string(), found - expected, folder_.path().string()));
        return;
      }
      if (found < expected) {
        throw DataError(fmt::format("{}: has {} draws, expected {}; rehmc resume {} repairs it",
                                    path.string(), found, expected, folder_.path().string()));
      }
      say(Kind::good, fmt::format("{}: {} rows", path.string(), found));
    });
    const bool recycles = manifest_.settings.sample.kernel.recycling.kind != RecyclingKind::none;
    if (!recycles) return;
    const files::path recycled = folder_.recycled(chain);
    if (!files::exists(recycled)) {
      say(Kind::problem, fmt::format("{}: is missing", recycled.string()));
    } else if (files::file_size(recycled) < checkpoint.recycled_bytes) {
      say(Kind::problem, fmt::format("{}: has {} bytes, expected {}", recycled.string(),
                                     files::file_size(recycled), checkpoint.recycled_bytes));
    } else {
      say(Kind::good, fmt::format("{}: complete", recycled.string()));
    }
  }

  void inspect_ends() {
    const std::string run = folder_.path().string();
    if (unfinished_) {
      say(Kind::note, fmt::format("the run is not finished; continue with: rehmc resume {}", run));
    }
    const std::uint64_t shortest =
        draws_.empty() ? 0 : *std::min_element(draws_.begin(), draws_.end());
    std::vector<files::path> wanted{folder_.summary(), folder_.report()};
    if (manifest_.settings.store_draws) wanted.push_back(folder_.netcdf());
    for (const files::path& path : wanted) {
      if (files::exists(path)) {
        if (files::file_size(path) == 0) say(Kind::problem, path.string() + ": is empty");
      } else {
        say(unfinished_ ? Kind::note : Kind::problem,
            fmt::format("{}: is missing; rehmc resume {} writes it", path.string(), run));
      }
    }
    attempt([&] {
      if (!files::exists(folder_.summary())) return;
      const auto json = nlohmann::json::parse(read_file(folder_.summary()));
      const auto draws = json.at("draws").get<std::uint64_t>();
      if (draws == shortest) {
        say(Kind::good, fmt::format("{}: covers all {} draws", folder_.summary().string(), draws));
      } else {
        say(unfinished_ ? Kind::note : Kind::problem,
            fmt::format(
                "{}: covers {} draws per chain, but there are {}; rehmc resume {} writes it again",
                folder_.summary().string(), draws, shortest, run));
      }
    });
    for (const auto& entry : files::directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".tmp") {
        say(Kind::note,
            fmt::format("{}: left over from a crash; can be deleted", entry.path().string()));
      }
    }
  }

  const RunFolder& folder_;
  const Manifest& manifest_;
  std::vector<std::size_t> columns_;
  std::vector<std::uint64_t> draws_;
  bool unfinished_ = false;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_run(const RunFolder& folder) {
  const Manifest manifest = read_manifest(folder);
  return Inspection(folder, manifest).inspect();
}

}  // namespace rehmc
