// rehmc resume and rehmc extend: continue a run.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "command.hpp"
#include "open_model.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/job/manifest.hpp"
#include "rehmc/job/run_lock.hpp"
#include "run_job.hpp"

namespace rehmc::cli {

namespace {

struct ResumeOptions {
  std::string run;
  int draws = 1000;
  int threads = -1;
  TrustedCode trusted;
  ShowOptions show;
};

/// Lets the run have this many more draws; it must be finished and whole.
void set_more_draws(Manifest& manifest, const RunFolder& folder, int more_draws) {
  const std::string run = folder.path().string();
  SampleSettings& sample = manifest.settings.sample;
  std::vector<std::uint64_t> taken;
  for (const ChainResult& chain : load_run(folder, manifest).chains) {
    taken.push_back(draws_of(chain));
  }
  // With --until, the setting is the maximum number of draws.
  if (!manifest.settings.until.empty()) sample.draws = static_cast<int>(std::ranges::max(taken));
  if (sample.draws > std::numeric_limits<int>::max() - more_draws) {
    throw ConfigError(
        fmt::format("--draws: {} in addition to {} is too many", more_draws, sample.draws));
  }
  if (std::ranges::min(taken) < static_cast<std::uint64_t>(sample.draws)) {
    throw ConfigError(fmt::format("{}: the run is not finished; finish it first: rehmc resume {}",
                                  run, shell_word(run)));
  }
  sample.draws += more_draws;
  manifest.settings.until.clear();  // already decided; extend adds a fixed number of draws
  manifest.settings.check();
  require_growing_files(folder, manifest);
}

int continue_run(const ResumeOptions& options, int more_draws) {
  const RunFolder folder(options.run);
  read_manifest(folder);  // whether it is a run folder at all
  const RunLock lock(folder);
  Manifest manifest = read_manifest(folder);
  if (manifest.version != version()) {
    tell(
        "Note: {} was sampled by rehmc {}, and this is rehmc {}: what it adds may differ from what "
        "that version would have drawn\n",
        options.run, manifest.version, version());
  }
  if (more_draws > 0) set_more_draws(manifest, folder, more_draws);
  const OpenedModel model = stored_model(manifest, folder, options.trusted);
  // Only now: a run whose model cannot be opened stays as it was, finished.
  if (more_draws > 0) {
    write_manifest(folder, manifest);
  } else {
    require_growing_files(folder, manifest);
  }
  if (options.threads >= 0) manifest.settings.sample.threads = options.threads;
  return run_job(model, manifest, folder, options.show);
}

void add_common(Command command, ResumeOptions& options) {
  command.option("RUN", options.run, "the folder of the run").required();
  command
      .option("--threads", options.threads,
              "threads that run chains; 0 for one per core (default: as in the run)")
      .range(0, 100000);
  add_trusted_code(command, options.trusted);
  add_show_options(command, options.show);
}

}  // namespace

void add_resume(Command app, Action& chosen) {
  Command command =
      app.subcommand("resume", "Continue an interrupted run, as if nothing had happened");
  const auto options = std::make_shared<ResumeOptions>();
  add_common(command, *options);
  command.when_chosen(
      [&chosen, options] { chosen = [options] { return continue_run(*options, 0); }; });
}

void add_extend(Command app, Action& chosen) {
  Command command = app.subcommand("extend", "Add draws to a finished run");
  const auto options = std::make_shared<ResumeOptions>();
  add_common(command, *options);
  command.option("--draws", options->draws, "draws to add to each chain")
      .range(1, 1000000000)
      .show_default();
  command.when_chosen([&chosen, options] {
    chosen = [options] { return continue_run(*options, options->draws); };
  });
}

}  // namespace rehmc::cli
