// rehmc sharpen: the table of CmdStan's draws, made more precise by gradients of their program.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "command.hpp"
#include "open_model.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/output/stan_csv_reader.hpp"
#include "rehmc/summary/run_summary.hpp"
#include "rehmc/summary/summary_json.hpp"
#include "stan/csv_states.hpp"
#include "table.hpp"

namespace rehmc::cli {

namespace {

struct SharpenOptions {
  ModelChoice model;
  std::vector<std::string> files;
  bool json = false;
  bool csv = false;
  bool all = false;
};

SampleResult read_draws(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names) {
    if (!std::filesystem::is_regular_file(name)) {
      throw NoInputError(fmt::format("{}: there is no such file", name));
    }
    files.emplace_back(name);
  }
  return read_stan_csv(files);
}

int sharpen_files(const SharpenOptions& options) {
  const SampleResult csv = read_draws(options.files);
  const OpenedModel model = open_model(options.model, csv.seed);
  if (!model.bridge) {
    throw ConfigError(fmt::format(
        "{}: give the Stan program (.stan) or the library (.so) that the draws are from; runs of "
        "rehmc are sharpened by themselves: rehmc summary RUN",
        options.model.model));
  }
  const RunSummary summary = summarise_run(stan::with_states(csv, *model.bridge));
  if (options.json) {
    print("{}", summary_json(summary, model.identity.name, csv.seed));
  } else if (options.csv) {
    print("{}", summary_csv(summary));
  } else {
    const std::string again = "rehmc sharpen " + shell_word(options.model.model) + " ...";
    print("{}: {} chains x {} draws\n\n{}\n{}", model.identity.name, csv.chains.size(),
          summary.draws, summary_table(summary, {{.all = options.all}, again}),
          warnings_text(summary.diagnostics));
  }
  return 0;
}

}  // namespace

void add_sharpen(Command app, Action& chosen) {
  Command command = app.subcommand(
      "sharpen", "Print a more precise table of CmdStan's draws, by gradients of their program");
  const auto options = std::make_shared<SharpenOptions>();
  add_model_options(command, options->model);
  command.option("CSV", options->files, "the CSV files of all chains, with their parameters")
      .required()
      .take_all();
  const Option json =
      command.flag("--json", options->json, "print all numbers as JSON (as in summary.json)");
  command.flag("--csv", options->csv, "print all numbers as CSV").excludes(json);
  command.flag("--all", options->all,
               "show everything: long vectors, generated quantities and constants too");
  command.when_chosen(
      [&chosen, options] { chosen = [options] { return sharpen_files(*options); }; });
}

}  // namespace rehmc::cli
