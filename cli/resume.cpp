// rehmc resume and rehmc extend: go on with a run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>

#include "command.hpp"
#include "open_model.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/run/job.hpp"
#include "rehmc/run/manifest.hpp"
#include "run_job.hpp"

namespace rehmc::cli {

namespace {

struct ResumeOptions {
  std::string run;
  int draws = 1000;
  int threads = -1;
  ShowOptions show;
};

int go_on(const ResumeOptions& options, int more_draws) {
  const RunFolder folder(options.run);
  Manifest manifest = read_manifest(folder);
  if (more_draws > 0) {
    SampleSettings& sample = manifest.settings.sample;
    if (!manifest.settings.until.empty()) {
      // Then the setting is the most that might have been taken.
      std::uint64_t taken = 0;
      for (const ChainResult& chain : load_run(folder, manifest).chains) {
        taken = std::max(taken, draws_of(chain));
      }
      sample.draws = static_cast<int>(taken);
    }
    if (sample.draws > std::numeric_limits<int>::max() - more_draws) {
      throw ConfigError(
          fmt::format("--draws: {} more than {} are too many", more_draws, sample.draws));
    }
    for (const ChainResult& chain : load_run(folder, manifest).chains) {
      if (draws_of(chain) < static_cast<std::uint64_t>(sample.draws)) {
        throw ConfigError(
            fmt::format("{}: the run is not finished; finish it first: rehmc resume {}",
                        options.run, options.run));
      }
    }
    sample.draws += more_draws;
    manifest.settings.until.clear();  // it was judged; now so many more were asked for
    manifest.settings.check();
    write_manifest(folder, manifest);
  }
  if (options.threads >= 0) manifest.settings.sample.threads = options.threads;
  return run_job(stored_model(manifest, folder), manifest, folder, options.show);
}

void add_common(CLI::App& command, ResumeOptions& options) {
  command.add_option("RUN", options.run, "the folder of the run")->required();
  command
      .add_option("--threads", options.threads,
                  "threads that run chains; 0 for one per core (default: as before)")
      ->check(CLI::Range(0, 100000));
  add_show_options(command, options.show);
}

}  // namespace

void add_resume(CLI::App& app, Action& chosen) {
  CLI::App& command = *app.add_subcommand(
      "resume", "go on with a run that was interrupted, as if nothing had happened");
  const auto options = std::make_shared<ResumeOptions>();
  add_common(command, *options);
  command.callback([&chosen, options] { chosen = [options] { return go_on(*options, 0); }; });
}

void add_extend(CLI::App& app, Action& chosen) {
  CLI::App& command = *app.add_subcommand("extend", "take more draws in a finished run");
  const auto options = std::make_shared<ResumeOptions>();
  add_common(command, *options);
  command.add_option("--draws", options->draws, "how many more draws of every chain")
      ->check(CLI::Range(1, 1000000000))
      ->capture_default_str();
  command.callback(
      [&chosen, options] { chosen = [options] { return go_on(*options, options->draws); }; });
}

}  // namespace rehmc::cli
