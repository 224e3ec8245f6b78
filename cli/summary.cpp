// rehmc summary: the table of a run folder, or of CSV files that CmdStan or rehmc wrote.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "command.hpp"
#include "kept_again.hpp"
#include "loo_text.hpp"
#include "print.hpp"
#include "print_damage.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/job/finish.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/output/stan_csv_reader.hpp"
#include "rehmc/summary/summary_json.hpp"
#include "table.hpp"
#include "warmup_text.hpp"

namespace rehmc::cli {

namespace {

struct SummaryOptions {
  std::vector<std::string> inputs;
  bool json = false;
  bool csv = false;
  bool all = false;
  std::optional<bool> sharpen;
};

struct Source {
  std::optional<RunFolder> folder;
  Manifest manifest;  ///< of the folder
  SampleResult result;
  std::string model;
  std::uint64_t seed = 0;
  bool sharpen = false;  ///< as in the run
};

Source load(const std::vector<std::string>& inputs) {
  if (inputs.size() == 1 && std::filesystem::is_directory(inputs.front())) {
    const RunFolder folder(inputs.front());
    const Manifest manifest = read_manifest(folder);
    return {folder,
            manifest,
            load_run(folder, manifest),
            manifest.model.name,
            manifest.seed,
            manifest.settings.sample.sharpen};
  }
  std::vector<std::filesystem::path> files;
  for (const std::string& input : inputs) {
    if (!std::filesystem::exists(input)) {
      throw NoInputError(fmt::format("{}: there is no such file or folder", input));
    }
    if (std::filesystem::is_directory(input)) {
      throw ConfigError(fmt::format("{}: give one run folder, or CSV files, not both", input));
    }
    files.emplace_back(input);
  }
  SampleResult result = read_stan_csv(files);
  const std::uint64_t seed = result.seed;
  return {std::nullopt, {}, std::move(result), files.front().stem().string(), seed, false};
}

/// As the run stored it, if it did; else computed, with the model of the run if it can be opened.
RunSummary summary_of(Source& source, bool sharpen) {
  if (source.folder && sharpen == source.sharpen) {
    std::optional<RunSummary> stored =
        stored_summary(*source.folder, source.manifest, source.result);
    if (stored) return *std::move(stored);
  }
  if (!source.folder) return summarise_run(source.result, sharpen);
  read_kept_again(*source.folder, source.manifest, source.result);
  return summarise_job(source.manifest, source.result, sharpen);
}

int summarise_inputs(const SummaryOptions& options) {
  Source source = load(options.inputs);
  cut_to_shortest(source.result);
  const bool empty = std::any_of(source.result.chains.begin(), source.result.chains.end(),
                                 [](const auto& chain) { return draws_of(chain) == 0; });
  if (empty) {
    throw DataError(fmt::format("{}: some chains have no draws yet", options.inputs.front()));
  }
  const RunSummary summary = summary_of(source, options.sharpen.value_or(source.sharpen));
  if (options.sharpen.value_or(false) && !summary.sharpening.check) {
    throw DataError(
        fmt::format("{}: cannot be sharpened: {}. Sample with --sharpen auto, with draws, and "
                    "without --no-sharpen-data",
                    options.inputs.front(), summary.sharpening.refused));
  }
  if (options.json) {
    print("{}", summary_json(summary, source.model, source.seed));
  } else if (options.csv) {
    print("{}", summary_csv(summary));
  } else {
    std::string again = "rehmc summary";
    for (const std::string& input : options.inputs) again += " " + shell_word(input);
    print("{}: {} chains x {} draws\n\n{}{}\n{}", source.model, source.result.chains.size(),
          summary.draws, summary_table(summary, {options.all, again + " --all"}),
          warmup_text(summary.warmup) + loo_text(summary.loo), warnings_text(summary.diagnostics));
  }
  if (source.folder) print_damage(*source.folder, source.manifest);
  return 0;
}

}  // namespace

void add_summary(Command app, Action& chosen) {
  Command command = app.subcommand(
      "summary", "Print means, sds, quantiles and their errors, for a run or for CSV files");
  const auto options = std::make_shared<SummaryOptions>();
  command
      .option("RUN|CSV", options->inputs,
              "a run folder, or the CSV files of all chains (CmdStan's or ours)")
      .required()
      .take_all();
  const Option json =
      command.flag("--json", options->json, "print all numbers as JSON (as in summary.json)");
  command.flag("--csv", options->csv, "print all numbers as CSV").excludes(json);
  command.flag(
      "--sharpen,!--no-sharpen", [options](bool wanted) { options->sharpen = wanted; },
      "use the gradients of kept states as control variates, or not (default: as in the run)");
  command.flag("--all", options->all,
               "show all parameters, not only the ones with the smallest ESS");
  command.when_chosen(
      [&chosen, options] { chosen = [options] { return summarise_inputs(*options); }; });
}

}  // namespace rehmc::cli
