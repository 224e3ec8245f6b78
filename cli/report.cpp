// rehmc report: one self-contained HTML page about a run.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "command.hpp"
#include "kept_again.hpp"
#include "print.hpp"
#include "print_damage.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/job/finish.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/job/run_lock.hpp"

namespace rehmc::cli {

namespace {

void write_again(const RunFolder& folder, const std::string& run) {
  const RunLock lock(folder);
  const Manifest manifest = read_manifest(folder);
  SampleResult result = load_run(folder, manifest);
  cut_to_shortest(result);
  const bool empty = std::any_of(result.chains.begin(), result.chains.end(),
                                 [](const auto& chain) { return draws_of(chain) == 0; });
  if (empty) {
    throw DataError(fmt::format("{}: some chains have no draws yet; continue with: rehmc resume {}",
                                run, shell_word(run)));
  }
  const std::optional<RunSummary> stored = stored_summary(folder, manifest, result);
  read_kept_again(folder, manifest, result);
  write_report(
      folder, manifest, result,
      stored ? *stored : summarise_job(manifest, result, manifest.settings.sample.sharpen));
}

}  // namespace

void add_report(Command app, Action& chosen) {
  Command command = app.subcommand("report", "Write the report of a run again");
  const auto run = std::make_shared<std::string>();
  command.option("RUN", *run, "the folder of the run").required();
  command.when_chosen([&chosen, run] {
    chosen = [run] {
      const RunFolder folder(*run);
      const Manifest manifest = read_manifest(folder);  // whether it is a run folder at all
      write_again(folder, *run);
      print("{}\n", folder.report().string());
      print_damage(folder, manifest);
      return 0;
    };
  });
}

}  // namespace rehmc::cli
