// rehmc sharpen: the table of CmdStan's draws, made more precise by gradients of their program.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "open_model.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/foreign_draws.hpp"
#include "rehmc/output/stan_csv_reader.hpp"
#include "rehmc/summary/calibrated_weights.hpp"
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
  std::string weights;
  std::uint64_t resample = 0;
  std::string output;
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

/// The draws with their gradients, and what to call them.
struct Draws {
  SampleResult result;
  std::string name;
};

Draws draws_of(const SharpenOptions& options) {
  const std::string& model_name = options.model.model;
  if (model_name.ends_with(".csv")) {  // no program: diagnostic files have gradients
    std::vector<std::string> files{model_name};
    files.insert(files.end(), options.files.begin(), options.files.end());
    return {from_diagnostics(read_draws(files)), std::filesystem::path(model_name).stem()};
  }
  if (options.files.empty()) {
    throw ConfigError(fmt::format("{}: give the CSV files of all chains as well", model_name));
  }
  const SampleResult csv = read_draws(options.files);
  const OpenedModel model = open_model(options.model, csv.seed);
  if (!model.bridge) {
    throw ConfigError(fmt::format(
        "{}: give the Stan program (.stan) or the library (.so) that the draws are from; runs of "
        "rehmc are sharpened by themselves: rehmc summary RUN",
        model_name));
  }
  return {stan::with_states(csv, *model.bridge), model.identity.name};
}

void write_new(const std::string& path, const std::string& text) {
  if (std::filesystem::exists(path)) {
    throw ConfigError(fmt::format("{}: exists; choose another name", path));
  }
  write_whole(path, text);
}

std::string weights_csv(const SampleResult& result, const std::vector<double>& weights) {
  std::string text = "chain,draw,log_weight\n";
  std::size_t place = 0;
  for (std::size_t c = 0; c < result.chains.size(); ++c) {
    for (std::size_t i = 0; i < result.chains[c].record.size(); ++i) {
      text += fmt::format("{},{},{}\n", c + 1, i + 1, std::log(weights[place++]));
    }
  }
  return text;
}

std::string resampled_csv(const SampleResult& result, const std::vector<std::size_t>& places) {
  std::string text = fmt::format("{}\n", fmt::join(result.names, ","));
  const std::size_t draws = result.chains.front().record.size();
  for (const std::size_t place : places) {
    const ChainRecord& record = result.chains[place / draws].record;
    text += fmt::format("{}\n", fmt::join(record.draw(place % draws), ","));
  }
  return text;
}

/// Writes the files that were asked for, and says what the weights are worth.
void write_weights(const SharpenOptions& options, const Draws& draws, const RunSummary& summary) {
  if (options.weights.empty() && options.resample == 0) return;
  if (!summary.sharpening.refused.empty()) {
    throw DataError(fmt::format("no weights: {}", summary.sharpening.refused));
  }
  const CalibratedWeights found = calibrated_weights(draws.result);
  if (!options.weights.empty()) {
    write_new(options.weights, weights_csv(draws.result, found.weights));
  }
  if (options.resample > 0) {
    const auto places = systematic_places(found.weights, options.resample, draws.result.seed);
    write_new(options.output, resampled_csv(draws.result, places));
  }
  if (options.json || options.csv) return;
  print("\nWeights balance {} features; {} draws are worth {:.0f} with equal weights.\n",
        found.features, found.weights.size(), found.effective_states);
}

int sharpen_files(const SharpenOptions& options) {
  if ((options.resample > 0) == options.output.empty()) {
    throw ConfigError("--resample N and --output FILE go together: how many draws, and where to");
  }
  const Draws draws = draws_of(options);
  const RunSummary summary = summarise_run(draws.result);
  if (options.json) {
    print("{}", summary_json(summary, draws.name, draws.result.seed));
  } else if (options.csv) {
    print("{}", summary_csv(summary));
  } else {
    const std::string again = "rehmc sharpen " + shell_word(options.model.model) + " ...";
    print("{}: {} chains x {} draws\n\n{}\n{}", draws.name, draws.result.chains.size(),
          summary.draws, summary_table(summary, {{.all = options.all}, again}),
          warnings_text(summary.diagnostics));
  }
  write_weights(options, draws, summary);
  return 0;
}

}  // namespace

void add_sharpen(Command app, Action& chosen) {
  Command command = app.subcommand(
      "sharpen", "Print a more precise table of CmdStan's draws, by gradients of their program");
  const auto options = std::make_shared<SharpenOptions>();
  add_model_options(command, options->model);
  command
      .option("CSV", options->files,
              "the CSV files of all chains, with their parameters; of CmdStan's diagnostic files, "
              "which "
              "have gradients, give no MODEL")
      .take_all();
  const Option json =
      command.flag("--json", options->json, "print all numbers as JSON (as in summary.json)");
  command.flag("--csv", options->csv, "print all numbers as CSV").excludes(json);
  command.flag("--all", options->all,
               "show everything: long vectors, generated quantities and constants too");
  command
      .option("--weights", options->weights,
              "write a positive weight for each draw, which sharpens whatever is computed with it")
      .type_name("FILE");
  command.option("--resample", options->resample,
                 "write that many draws with equal weights that carry those to --output");
  command.option("--output", options->output, "CSV file for --resample").type_name("FILE");
  command.when_chosen(
      [&chosen, options] { chosen = [options] { return sharpen_files(*options); }; });
}

}  // namespace rehmc::cli
