// rehmc summary: the table of a run folder, or of CSV files that CmdStan or rehmc wrote.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "command.hpp"
#include "kept_again.hpp"
#include "loo_text.hpp"
#include "print.hpp"
#include "print_damage.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/core/stan_name.hpp"
#include "rehmc/estimate/quantiles.hpp"
#include "rehmc/job/finish.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/output/kept_quantities.hpp"
#include "rehmc/output/stan_csv_reader.hpp"
#include "rehmc/summary/summary_json.hpp"
#include "table.hpp"
#include "warmup_text.hpp"

namespace rehmc::cli {

namespace {

/// The share of the draws in the shortest interval.
constexpr double hdi_mass = 0.9;

struct SummaryOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> patterns;  ///< of the inputs, those that are no files
  std::vector<std::string> quantiles;
  std::string sort = "declared";
  bool hdi = false;
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

/// Whether a word names a file rather than a parameter.
bool is_file(const std::string& word) {
  return word.ends_with(".csv") || word.find('/') != std::string::npos ||
         std::filesystem::exists(word);
}

/// Patterns follow the run folder, or the CSV files.
void take_patterns(SummaryOptions& options) {
  std::vector<std::string>& inputs = options.inputs;
  const bool folder = std::filesystem::is_directory(inputs.front());
  const auto first = std::find_if(inputs.begin() + 1, inputs.end(), [&](const std::string& word) {
    return folder ? !word.ends_with(".csv") && !std::filesystem::is_directory(word)
                  : !is_file(word);
  });
  options.patterns.assign(first, inputs.end());
  inputs.erase(first, inputs.end());
}

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

/// Whether the stored estimates have all that can be had of these columns.
bool covers(const RunSummary& summary, const SampleResult& result,
            const std::vector<std::size_t>& columns) {
  const std::vector<std::size_t> of_states = columns_of_states(result);
  return std::ranges::all_of(columns, [&](std::size_t column) {
    return summary.parameters[column].recycled.has_value() ||
           !std::ranges::binary_search(of_states, column);
  });
}

/// As the run stored it, if it did; else computed, with the model of the run if it can be opened.
/// Columns that the user asks for are recycled and sharpened, even if the run did not.
RunSummary summary_of(Source& source, bool sharpen, const std::vector<std::size_t>& asked) {
  if (source.folder && sharpen == source.sharpen) {
    std::optional<RunSummary> stored =
        stored_summary(*source.folder, source.manifest, source.result);
    if (stored && covers(*stored, source.result, asked)) return *std::move(stored);
  }
  if (!source.folder) return summarise_run(source.result, sharpen);
  read_kept_again(*source.folder, source.manifest, source.result, asked);
  return summarise_job(source.manifest, source.result, sharpen);
}

/// The columns of the run that the patterns choose; all without patterns.
std::vector<std::size_t> chosen_columns(const std::vector<std::string>& patterns,
                                        const std::vector<std::string>& names,
                                        const std::string& where) {
  std::vector<bool> marks(names.size(), true);
  if (!patterns.empty()) marks = matched_names(patterns, names, where + ": ");
  std::vector<std::size_t> columns;
  for (std::size_t p = 0; p < names.size(); ++p) {
    if (marks[p]) columns.push_back(p);
  }
  return columns;
}

std::vector<double> probabilities(const std::vector<std::string>& words) {
  std::vector<double> numbers;
  for (const std::string& word : words) {
    double p = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, p);
    if (error != std::errc{} || stop != end || !(p > 0 && p < 1)) {
      throw ConfigError(fmt::format(
          "--quantiles: found '{}', expected probabilities between 0 and 1, as in 0.1,0.9", word));
    }
    numbers.push_back(p);
  }
  return numbers;
}

std::vector<double> draws_of_column(const SampleResult& result, std::size_t column) {
  std::vector<double> values;
  for (const ChainResult& chain : result.chains) {
    for (std::size_t i = 0; i < chain.record.size(); ++i) {
      values.push_back(chain.record.draw(i)[column]);
    }
  }
  return values;
}

/// The ends of the shortest interval that holds this share of the numbers, in rising order.
std::pair<double, double> shortest_interval(std::span<const double> sorted, double mass) {
  const auto inside =
      static_cast<std::size_t>(std::ceil(mass * static_cast<double>(sorted.size())));
  std::size_t best = 0;
  for (std::size_t i = 0; i + inside <= sorted.size(); ++i) {
    if (sorted[i + inside - 1] - sorted[i] < sorted[best + inside - 1] - sorted[best]) best = i;
  }
  return {sorted[best], sorted[best + inside - 1]};
}

/// What the user wants to see instead of the usual quantiles, from the draws of the chains.
std::vector<ExtraColumn> extra_columns(const SummaryOptions& options, const SampleResult& result,
                                       const std::vector<std::size_t>& columns) {
  const std::vector<double> wanted = probabilities(options.quantiles);
  if (wanted.empty() && !options.hdi) return {};
  if (result.chains.front().running) {
    throw DataError(
        fmt::format("{}: stored no draws, which --quantiles and --hdi need; summary.json has the "
                    "usual quantiles",
                    options.inputs.front()));
  }
  std::vector<ExtraColumn> extra;
  for (const double p : wanted) extra.push_back({fmt::format("{:.6g}%", 100 * p), {}});
  if (options.hdi) {
    extra.push_back({fmt::format("hdi {:g}% from", 100 * hdi_mass), {}});
    extra.push_back({"to", {}});
  }
  for (const std::size_t column : columns) {
    const EmpiricalDistribution distribution(draws_of_column(result, column));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      extra[i].values.push_back(distribution.quantile(wanted[i]));
    }
    if (!options.hdi) continue;
    const bool known = !std::isnan(distribution.quantile(0.5));
    const auto [from, to] = known ? shortest_interval(distribution.values(), hdi_mass)
                                  : std::pair{nan_value, nan_value};
    extra[wanted.size()].values.push_back(from);
    extra[wanted.size() + 1].values.push_back(to);
  }
  return extra;
}

/// Keeps only the rows of these columns.
void keep_rows(RunSummary& summary, const std::vector<std::size_t>& columns) {
  if (columns.size() == summary.parameters.size()) return;
  std::vector<ParameterSummary> kept;
  for (const std::size_t column : columns) kept.push_back(std::move(summary.parameters[column]));
  summary.parameters = std::move(kept);
}

void print_table(const SummaryOptions& options, const Source& source, const RunSummary& summary,
                 std::vector<ExtraColumn> extra) {
  std::string command = "rehmc summary";
  for (const std::string& input : options.inputs) command += " " + shell_word(input);
  const RowChoice rows{options.all, !options.patterns.empty(), parse_row_order(options.sort)};
  print("{}: {} chains x {} draws\n\n{}", source.model, source.result.chains.size(), summary.draws,
        summary_table(summary, {rows, command, std::move(extra)}));
  if (options.patterns.empty()) {
    print("\n{}{}", warmup_text(summary.warmup) + loo_text(summary.loo),
          warnings_text(summary.diagnostics));
  }
}

int summarise_inputs(SummaryOptions& options) {
  take_patterns(options);
  parse_row_order(options.sort);
  Source source = load(options.inputs);
  cut_to_shortest(source.result);
  const bool empty = std::any_of(source.result.chains.begin(), source.result.chains.end(),
                                 [](const auto& chain) { return draws_of(chain) == 0; });
  if (empty) {
    throw DataError(fmt::format("{}: some chains have no draws yet", options.inputs.front()));
  }
  const std::vector<std::size_t> columns =
      chosen_columns(options.patterns, source.result.names, options.inputs.front());
  const std::vector<std::size_t> asked =
      options.patterns.empty() ? std::vector<std::size_t>{} : columns;
  std::vector<ExtraColumn> extra = extra_columns(options, source.result, columns);
  RunSummary summary = summary_of(source, options.sharpen.value_or(source.sharpen), asked);
  keep_rows(summary, columns);
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
    print_table(options, source, summary, std::move(extra));
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
              "a run folder, or the CSV files of all chains (CmdStan's or ours); then names or "
              "patterns of the parameters to show, as in mu 'theta[*]'")
      .required()
      .take_all();
  const Option json =
      command.flag("--json", options->json, "print all numbers as JSON (as in summary.json)");
  const Option csv = command.flag("--csv", options->csv, "print all numbers as CSV").excludes(json);
  command
      .option("--sort", options->sort,
              "order of the rows: declared, ess (smallest first), rhat (largest first) or name")
      .show_default()
      .words({"declared", "ess", "rhat", "name"})
      .type_name("WORD");
  command
      .option("--quantiles", options->quantiles,
              "show these quantiles of the draws, as in 0.1,0.9, instead of 5%, 50% and 95%")
      .split_at(',')
      .repeatable()
      .type_name("P,...")
      .excludes(json)
      .excludes(csv);
  command
      .flag("--hdi", options->hdi,
            "show the shortest interval that holds 90% of the draws, instead of quantiles")
      .excludes(json)
      .excludes(csv);
  command.flag(
      "--sharpen,!--no-sharpen", [options](bool wanted) { options->sharpen = wanted; },
      "use the gradients of kept states as control variates, or not (default: as in the run)");
  command.flag("--all", options->all,
               "show everything: long vectors, generated quantities and constants too");
  command.when_chosen(
      [&chosen, options] { chosen = [options] { return summarise_inputs(*options); }; });
}

}  // namespace rehmc::cli
