// rehmc sample: draws from the posterior of a model into a run folder.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "command.hpp"
#include "display.hpp"
#include "open_model.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/job/create_folder.hpp"
#include "rehmc/job/init_file.hpp"
#include "rehmc/job/manifest.hpp"
#include "rehmc/job/predictive.hpp"
#include "rehmc/output/metric_file.hpp"
#include "rehmc/run/sample.hpp"
#include "run_job.hpp"
#include "stan/starts.hpp"

namespace rehmc::cli {

namespace {

/// The maximum number of draws with --until and without --draws.
constexpr int most_draws_until = 100'000;

/// The command line, before it is checked.
struct SampleOptions {
  ModelChoice model;
  std::string shown_model;  ///< what to name as the model, if its file will not stay
  std::string output;
  std::string engine = "threads";
  std::string kernel = "nuts";
  std::string recycle = "spread:8";
  std::string metric = "auto";
  std::string warmup_schedule = "pooled";
  std::string start = "auto";
  std::string metric_from = "recycled";
  std::string metric_file;
  std::string path_jitter;
  std::string init;
  std::string seed;
  bool force = false;
  bool draws_given = false;
  bool step_size_given = false;
  bool path_length_given = false;
  bool no_draws = false;
  bool no_sharpen_data = false;
  std::string sharpen = "auto";
  RunSettings run;
  ShowOptions show;
  /// Numbers that rooms declare as settings, by name: where each goes.
  std::map<std::string, std::vector<std::function<void(const std::string&)>>> numbers;
  /// Of options that only some kernels have: which.
  std::map<std::string, std::set<SettingsGroup>> of_kernels{
      {"--path-jitter", {SettingsGroup::hmc}}};
  std::vector<std::string> given;  ///< those of them that were given
};

/// Reads a whole number or a decimal one; nothing else is allowed.
template <class Value>
void read_number(const std::string& option, const std::string& text, Value& value) {
  if constexpr (std::same_as<Value, bool>) {
    value = true;
  } else {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range) {
      throw ConfigError(fmt::format("{}: {} is out of range", option, text));
    }
    if (error != std::errc{} || stop != end) {
      throw ConfigError(fmt::format("{}: found '{}', expected {}", option, text,
                                    std::integral<Value> ? "a whole number" : "a number"));
    }
  }
}

/// One option for every setting that a room declares; two rooms may share a name, which then means
/// the same in both.
void add_settings(Command command, SampleOptions& options) {
  for_each_setting(options.run, [&](std::string_view group, const auto& setting, auto& owner) {
    std::string name(setting.name);
    if (name == "jitter_least" || name == "jitter_most") return;  // --path-jitter sets both
    std::replace(name.begin(), name.end(), '_', '-');
    const std::string option = "--" + name;
    // What users of Stan know.
    const std::string stan = option == "--target-accept" ? ",--adapt-delta"
                             : option == "--max-depth"   ? ",--max-treedepth"
                                                         : "";
    auto& value = owner.*(setting.field);
    using Value = std::decay_t<decltype(value)>;
    using Owner = std::decay_t<decltype(owner)>;
    if constexpr (std::same_as<Owner, NutsSettings>) {
      options.of_kernels[option].insert(SettingsGroup::nuts);
    }
    if constexpr (std::same_as<Owner, HmcSettings>) {
      options.of_kernels[option].insert(SettingsGroup::hmc);
    }
    const bool known = options.numbers.contains(option);
    options.numbers[option].push_back(
        [&value, option](const std::string& text) { read_number(option, text, value); });
    if (known) return;
    const auto set = [&options, option](const std::string& text) {
      if (option == "--draws") options.draws_given = true;
      if (option == "--step-size") options.step_size_given = true;
      if (option == "--path-length") options.path_length_given = true;
      if (options.of_kernels.contains(option)) options.given.push_back(option);
      for (const auto& each : options.numbers[option]) each(text);
    };
    if constexpr (std::same_as<Value, bool>) {
      command
          .flag(
              option, [set](bool) { set(""); }, std::string(setting.help))
          .group(std::string(group));
    } else {
      command
          .option(option + stan, set,
                  fmt::format("{} ({})", setting.help, setting.range.describe()))
          .show_default(fmt::format("{}", value))
          .group(std::string(group))
          .type_name("");
    }
  });
}

void set_jitter(HmcSettings& hmc, const std::string& text) {
  const std::size_t colon = text.find(':');
  read_number("--path-jitter", text.substr(0, colon), hmc.jitter_least);
  if (colon != std::string::npos) {
    read_number("--path-jitter", text.substr(colon + 1), hmc.jitter_most);
    return;
  }
  // One number: a fraction in both directions.
  const double fraction = hmc.jitter_least;
  if (!(fraction >= 0 && fraction < 1)) {
    throw ConfigError(fmt::format(
        "--path-jitter: found {}, expected a fraction of at least 0 and below 1, or LEAST:MOST, as "
        "in {}:{}",
        text, text, text));
  }
  hmc.jitter_least = 1 - fraction;
  hmc.jitter_most = 1 + fraction;
}

/// Starting points of a model in a file: on the scales that its users know.
std::vector<std::vector<double>> read_starts(const std::string& file, const BridgeDensity& model,
                                             const RunSettings& run) {
  const SampleSettings& sample = run.sample;
  // Chains that are run one by one have different random parts of their starts.
  const std::uint64_t seed =
      sample.seed.value_or(0) + static_cast<std::uint64_t>(run.first_chain) - 1;
  if (!std::filesystem::is_regular_file(file)) {
    throw NoInputError(
        fmt::format("--init: '{}' is neither a number nor a file that exists", file));
  }
  return stan::read_starts(read_file(file), file, model,
                           {.seed = seed,
                            .chains = static_cast<std::size_t>(sample.chains),
                            .radius = sample.initial.initial_radius});
}

void set_init(const std::string& init, const OpenedModel& model, RunSettings& run) {
  SampleSettings& sample = run.sample;
  if (init.empty()) return;
  double radius = 0;
  const auto [end, error] = std::from_chars(init.data(), init.data() + init.size(), radius);
  if (error == std::errc{} && end == init.data() + init.size()) {
    if (!(radius >= 0)) {
      throw ConfigError(fmt::format(
          "--init: found {}, expected a number of at least 0, or a file with starting points",
          init));
    }
    if (radius == 0) {
      sample.start = {std::vector<double>(model.density.dimension(), 0.0)};
    } else {
      sample.initial.initial_radius = radius;
    }
    return;
  }
  sample.start = model.bridge ? read_starts(init, *model.bridge, run)
                              : read_init_file(init, model.density.names());
}

/// The metric and, unless the user gives another, the step size of a file: it needs no search.
void set_metric_file(SampleOptions& options, std::size_t dimension) {
  WarmupSettings& warmup = options.run.sample.warmup;
  warmup.initial_metric = read_metric_file(options.metric_file, dimension);
  if (options.step_size_given) return;
  const std::optional<double> step_size = read_metric_step_size(options.metric_file, dimension);
  if (!step_size) return;
  warmup.step_size = *step_size;
  warmup.search_step_size = false;
}

/// Removes the files of a run that failed before its first checkpoint: it would fail again.
void remove_failed_start(const RunFolder& folder) {
  if (!folder.has_checkpoint()) remove_run(folder);
}

/// Stores what the run needs to begin; there is nothing to resume if that fails.
void store_beginning(const OpenedModel& model, const Manifest& manifest, const RunFolder& folder) {
  try {
    store_model(model, folder);
    write_manifest(folder, manifest);
  } catch (const FileError& error) {
    remove_run(folder);
    throw FileError(fmt::format(
        "{}; nothing was sampled yet. When files can be written again, start again", error.what()));
  }
}

/// The model and the files as words of the command line, to show how to run it again.
std::vector<std::string> given_words(const SampleOptions& options, bool starts) {
  std::vector<std::string> words{options.shown_model.empty() ? options.model.model
                                                             : options.shown_model};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--data", options.model.data);
  if (options.model.backend != "auto") add("--stan-backend", options.model.backend);
  for (const std::string& folder : options.model.include_paths) add("--include-path", folder);
  add("--cmdstan", options.model.cmdstan);
  add("--metric-file", options.metric_file);
  if (starts) add("--init", options.init);
  return words;
}

bool parse_sharpen(const std::string& word) {
  if (word != "auto" && word != "all" && word != "none") {
    throw ConfigError(fmt::format("--sharpen: found '{}', expected auto, all or none", word));
  }
  return word != "none";
}

/// An option of other kernels would be ignored without a word.
void require_options_of(KernelKind kind, const SampleOptions& options) {
  for (const std::string& option : options.given) {
    const std::set<SettingsGroup>& groups = options.of_kernels.at(option);
    if (groups.contains(traits(kind).settings)) continue;
    throw ConfigError(fmt::format(
        "{}: kernel {} has no such setting; use {}", option, describe(kind),
        groups.contains(SettingsGroup::hmc) ? "hmc, symmetric or windows" : "nuts or nuts-slice"));
  }
}

int sample(SampleOptions& options) {
  RunSettings& run = options.run;
  SampleSettings& settings = run.sample;
  settings.engine = parse_engine(options.engine);
  settings.kernel.kind = parse_kernel(options.kernel);
  settings.kernel.recycling = parse_recycling(options.recycle);
  settings.search_path_length = !options.path_length_given;
  settings.warmup.metric = parse_metric(options.metric);
  settings.warmup.schedule = parse_warmup_schedule(options.warmup_schedule);
  settings.start_kind = parse_start(options.start);
  settings.warmup.metric_from = parse_metric_source(options.metric_from);
  if (!options.path_jitter.empty()) {
    set_jitter(settings.kernel.hmc, options.path_jitter);
    options.given.emplace_back("--path-jitter");
  }
  run.store_draws = !options.no_draws;
  run.store_gradients = !options.no_sharpen_data;
  settings.sharpen = parse_sharpen(options.sharpen);
  run.sharpen_all = options.sharpen == "all";

  Manifest manifest;
  manifest.seed = fresh_seed();
  if (!options.seed.empty()) read_number("--seed", options.seed, manifest.seed);
  settings.seed = manifest.seed;
  options.model.quiet = options.show.quiet;
  const OpenedModel model = open_model(options.model, manifest.seed);
  manifest.version = version();
  manifest.created = utc_now();
  manifest.model = model.identity;
  manifest.quantities = model.density.quantities();
  manifest.coordinates = model.density.names();
  set_init(options.init, model, run);
  if (!options.metric_file.empty()) set_metric_file(options, model.density.dimension());
  run.check();
  require_options_of(settings.kernel.kind, options);
  manifest.settings = run;
  manifest.given = given_words(options, !settings.start.empty());
  // Invalid words, patterns and combinations are reported before a folder is created.
  parse_progress(options.show.progress);
  make_kernel(model.density, settings.kernel);
  predictive_columns(run,
                     recorded_quantities(manifest.quantities,
                                         recorded_columns(names_of(manifest.quantities), run)));

  const RunFolder folder(options.output.empty() ? create_free_folder(model.identity.name)
                                                : std::filesystem::path(options.output));
  const RunLock lock = create_run_folder(folder, options.force);
  manifest.files = stored_files(model, folder);
  try {
    store_beginning(model, manifest, folder);
    return run_job(model, manifest, folder, options.show);
  } catch (const FileError&) {
    throw;  // the run can be resumed, even before its first checkpoint
  } catch (const SystemError&) {
    throw;  // likewise
  } catch (...) {
    remove_failed_start(folder);
    throw;
  }
}

/// What to record, what to store, and when to stop.
void add_output_options(Command command, SampleOptions& options) {
  command.option("--save", options.run.save, "record only parameters that match these patterns")
      .split_at(',')
      .repeatable();
  command.option("--drop", options.run.drop, "do not record parameters that match these patterns")
      .split_at(',')
      .repeatable();
  command
      .option("--log-lik", options.run.log_lik,
              "variables that hold the log likelihood of every observation, for leave-one-out "
              "(default: log_lik)")
      .split_at(',')
      .repeatable();
  command
      .option("--predictive", options.run.predictive,
              "variables that predict observations (default: y_rep, *_rep, y_pred)")
      .split_at(',')
      .repeatable();
  command.flag("--save-warmup", options.run.save_warmup, "also store the warmup draws");
  command
      .option("--sharpen", options.sharpen,
              "use gradients as control variates in the summary: auto (parameters, and more where "
              "that is cheap), all (whatever the state determines) or none")
      .show_default()
      .words({"auto", "none"})
      .type_name("WORD");
  command.flag("--no-sharpen-data", options.no_sharpen_data,
               "do not store the gradients that rehmc summary --sharpen and resume need");
  command.flag("--recycled-csv", options.run.recycled_csv,
               "also write the recycled states for other programs: recycled-N.csv, and the group "
               "recycled_posterior of posterior.nc");
  command.flag("--no-draws", options.no_draws,
               "store no draws, only running summaries, in bounded memory and disk space");
  command.option("--until", options.run.until,
                 "stop early when this holds: precise (two digits of everything), \"ess>=400,"
                 "rhat<=1.01\", \"mcse(mean)<=0.01*sd\"; --draws is then the maximum "
                 "(default: 100000)");
}

void add_sampling_options(Command command, SampleOptions& options) {
  command
      .option("--engine", options.engine,
              "threads, or batch: many chains whose gradients the model computes together")
      .show_default()
      .words({"threads", "batch"});
  command.option("--kernel", options.kernel, kernel_names())
      .show_default()
      .words({"nuts", "nuts-slice", "hmc", "symmetric", "windows"});
  command
      .option("--recycle", options.recycle,
              "what to keep of every trajectory: none, all, K, spread:K, simple:K, accept-each "
              "or stride:K")
      .show_default()
      .words({"none", "all", "spread:8", "simple:8", "accept-each", "stride:8", "recursive:8"});
  command.flag("--recycle-generated", options.run.sample.recycle_generated,
               "also draw generated quantities for kept states; costs one evaluation of "
               "them per kept state");
  command
      .option("--warmup-schedule", options.warmup_schedule,
              "pooled: chains learn together until they know enough; stan: every chain alone")
      .show_default()
      .words({"pooled", "stan"})
      .type_name("WORD");
  command
      .option(
          "--start", options.start,
          "random; pathfinder: climb from there, and start on the scale of the posterior; auto: "
          "pathfinder with pooled warmup, random with Stan's")
      .show_default()
      .words({"auto", "random", "pathfinder"})
      .type_name("WORD");
  command
      .option("--metric", options.metric,
              "metric to estimate: diag, dense, low-rank or unit; auto: the one that suits best, "
              "with Stan's warmup diag")
      .show_default()
      .words({"auto", "diag", "dense", "low-rank", "unit"});
  command
      .option("--metric-from", options.metric_from,
              "estimate the metric from all recycled states, or from the chain's draws")
      .show_default()
      .words({"recycled", "draws"});
  command
      .option("--metric-file", options.metric_file,
              "metric and step size to start with (CmdStan's JSON)")
      .type_name("FILE");
  command.option("--path-jitter", options.path_jitter,
                 "hmc: random factor on the path length, LEAST:MOST, or a fraction below 1");
}

void add_sample_options(Command command, const std::shared_ptr<SampleOptions>& options,
                        Action& chosen) {
  add_model_options(command, options->model);
  command
      .option("--output,-o", options->output, "folder for the run (default: MODEL-1, MODEL-2, ...)")
      .type_name("DIR");
  command.flag("--force", options->force, "replace the run that is already in the folder");
  command.option("--seed", options->seed, "seed of all random numbers (default: a new one)");
  add_sampling_options(command, *options);
  command.option("--init", options->init,
                 "starting point: a number (uniform on (-x, x)), 0, or a JSON file (default: 2)");
  add_output_options(command, *options);
  add_show_options(command, options->show);
  add_settings(command, *options);
  command.when_chosen([&chosen, options] {
    // With --until, the default of 1000 draws would often be too few.
    const bool counted = options->draws_given;
    if (!options->run.until.empty() && !counted) options->run.sample.draws = most_draws_until;
    chosen = [options] { return sample(*options); };
  });
}

}  // namespace

void add_sample(Command app, Action& chosen) {
  add_sample_options(
      app.subcommand("sample", "Sample a model and recycle the states that others discard"),
      std::make_shared<SampleOptions>(), chosen);
}

int sample_by_words(std::vector<std::string> words, const std::string& shown_model) {
  const auto options = std::make_shared<SampleOptions>();
  options->shown_model = shown_model;
  CommandLine line("rehmc sample", "", REHMC_VERSION);
  Action chosen;
  add_sample_options(line.root(), options, chosen);
  words.insert(words.begin(), "rehmc sample");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  if (const auto done = line.parse(static_cast<int>(pointers.size()), pointers.data())) {
    return *done;
  }
  return chosen();
}

}  // namespace rehmc::cli
