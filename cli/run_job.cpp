// The part that sample, resume and extend share.
#include "run_job.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "display.hpp"
#include "interrupt.hpp"
#include "loo_text.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/job/finish.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/model/messages.hpp"
#include "rehmc/output/netcdf.hpp"
#include "stan/data.hpp"
#include "stan/locate.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "warmup_text.hpp"

namespace rehmc::cli {

namespace {

/// With fewer draws per chain there is no summary.
constexpr std::uint64_t least_draws = 4;

std::string seconds_text(double seconds) {
  return seconds < 10 ? fmt::format("{:.2f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

void print_summary(const RunSummary& summary, const Manifest& manifest, const RunFolder& folder,
                   const ShowOptions& options) {
  const Diagnostics& diagnostics = summary.diagnostics;
  const std::string run = shell_word(folder.path().string());
  print(
      "\n{}: {} chains x {} draws, seed {}; {} + {} gradients (warmup + sampling), {} of "
      "chain time\n\n",
      manifest.model.name, diagnostics.ebfmi.size(), summary.draws, manifest.seed,
      grouped(diagnostics.gradients_warmup), grouped(diagnostics.gradients_sampling),
      seconds_text(diagnostics.seconds_warmup + diagnostics.seconds_sampling));
  print("{}{}\n", summary_table(summary, {{.all = options.all}, "rehmc summary " + run}),
        warmup_text(summary.warmup) + loo_text(summary.loo));
}

void print_files(const Manifest& manifest, const RunFolder& folder) {
  const std::string run = folder.path().string();
  const bool recycled = manifest.settings.recycled_csv;
  if (manifest.settings.store_draws) {
    print("{}",
          wrapped(fmt::format(
                      "\nFiles in {}/: chain-*.csv (as CmdStan writes them){}, {}summary.json\n",
                      run, recycled ? ", recycled-*.csv" : "",
                      writes_netcdf() ? "posterior.nc (ArviZ), " : ""),
                  2));
  } else {
    print("\nFiles in {}/: summary.json, metric-*.json; no draws were stored\n", run);
  }
  print("Report:       {}\n", folder.report().string());
  print("Next:         rehmc extend {} --draws {}   take more draws\n", shell_word(run),
        manifest.settings.sample.draws);
}

std::string resume_command(const RunFolder& folder) {
  return "rehmc resume " + shell_word(folder.path().string());
}

/// Passes on a line of the model immediately.
void print_line(const std::string& line) { tell("model: {}\n", line); }

/// Where an interpreted program raises an error, with a blank before it; compiled ones tell it
/// themselves, and others have no lines.
std::string place_of(const OpenedModel& model, const Manifest& manifest,
                     const std::string& message) {
  const auto backend = model.identity.made_by.find("stan_backend");
  if (backend == model.identity.made_by.end() || backend->second != "interpret") return "";
  const MutedMessages muted(model.bridge->messages());
  const std::string place =
      stan::locate_error({.name = model.identity.name,
                          .whole = model.program,
                          .data = model.data.empty() ? "" : stan::strict_json(model.data, "data"),
                          .seed = static_cast<std::uint32_t>(manifest.seed)},
                         message);
  return place.empty() ? "" : " " + place;
}

/// What the model printed, one line for each kind; nothing if it printed nothing.
void print_messages(const OpenedModel& model, const Manifest& manifest) {
  constexpr std::size_t most_places = 5;
  const ModelMessages& messages = model.bridge->messages();
  std::uint64_t count = messages.others();
  const std::vector<ModelMessages::Kind> kinds = messages.kinds();
  for (const ModelMessages::Kind& kind : kinds) count += kind.count;
  if (count == 0) return;
  tell("\nThe model printed {} lines; the first of each kind (--verbose shows all):\n",
       grouped(count));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string place = i < most_places ? place_of(model, manifest, kinds[i].first) : "";
    tell("  {}{} ({}x)\n", kinds[i].first, place, grouped(kinds[i].count));
  }
  if (messages.others() > 0) {
    tell("  and {} lines of other kinds\n", grouped(messages.others()));
  }
}

int take_draws(const OpenedModel& model, const Manifest& manifest, const RunFolder& folder,
               const ShowOptions& options) {
  const Density& density = model.density;
  // Only models from files print.
  ModelMessages* const messages = model.bridge ? &model.bridge->messages() : nullptr;
  std::string progress = options.quiet ? "none" : options.progress;
  if (options.verbose) {
    if (messages != nullptr) {
      for (const ModelMessages::Kind& kind : messages->kinds()) print_line(kind.first);
      messages->listen(print_line);
    }
    // Lines of the model would break a display that redraws itself.
    if (parse_progress(progress) == ProgressKind::terminal) progress = "plain";
  }
  const std::atomic<int>& interrupts = catch_interrupts(fmt::format(
      "\nInterrupted; everything up to the last checkpoint is stored. Continue with: {}\n",
      resume_command(folder)));
  auto job = std::make_unique<Job>(density, manifest, folder);
  Display display(*job, progress);
  job->run(interrupts);
  display.stop();
  end_at_first_interrupt();
  if (!options.verbose && messages != nullptr) print_messages(model, manifest);
  for (const std::string& problem : job->problems()) {
    tell("Note: {}\n", problem);
  }
  const bool interrupted = !job->complete();
  const std::string verdict = job->until_verdict();
  SampleResult result = std::move(*job).take_result();
  std::optional<RunEstimates> estimates = std::move(*job).take_estimates();
  job.reset();  // kernels hold many vectors, and the summary of a large model needs the memory
  std::uint64_t shortest = draws_of(result.chains.front());
  for (const ChainResult& chain : result.chains) shortest = std::min(shortest, draws_of(chain));
  if (interrupted && shortest < least_draws) {
    tell(
        "\nInterrupted before there was anything to summarise. Nothing is lost; continue "
        "with: {}\n",
        resume_command(folder));
    return static_cast<int>(ExitCode::interrupted);
  }

  const RunSummary summary =
      finish_run(folder, manifest, std::move(result), &density, std::move(estimates));
  display.conclude(summary.parameters);
  if (!options.quiet) {
    print_summary(summary, manifest, folder, options);
    if (!verdict.empty()) print("{}\n", verdict);
  }
  if (!options.quiet || !summary.diagnostics.warnings.empty()) {
    const std::string warnings = warnings_text(summary.diagnostics);
    options.quiet ? write_message(warnings) : write_output(warnings);
  }
  if (interrupted) {
    tell("\nInterrupted after {} draws per chain; all files are valid. Continue with: {}\n",
         shortest, resume_command(folder));
    return static_cast<int>(ExitCode::interrupted);
  }
  if (!options.quiet) print_files(manifest, folder);
  return options.strict && !summary.diagnostics.warnings.empty() ? 1 : 0;
}

}  // namespace

void add_show_options(Command command, ShowOptions& options) {
  command.option("--progress", options.progress, "how to show progress: auto, plain, json or none")
      .show_default()
      .words({"auto", "plain", "json", "none"});
  command.flag("--quiet,-q", options.quiet, "print warnings and errors only");
  command.flag("--strict", options.strict, "exit with code 1 if there are warnings");
  command.flag("--verbose", options.verbose, "print every message of the model immediately");
  command.flag("--all", options.all,
               "show everything: long vectors, generated quantities and constants too");
}

int run_job(const OpenedModel& model, const Manifest& manifest, const RunFolder& folder,
            const ShowOptions& options) {
  const auto hint = [&](std::string_view cause, std::string_view when) {
    return fmt::format("{}; nothing that was stored is lost. {}, continue with: {}", cause, when,
                       resume_command(folder));
  };
  try {
    return take_draws(model, manifest, folder, options);
  } catch (const ModelError& error) {
    std::string text = error.what();
    for (const auto& kind :
         model.bridge ? model.bridge->messages().kinds() : std::vector<ModelMessages::Kind>{}) {
      const std::size_t at = text.find(kind.first);
      if (at == std::string::npos) continue;
      text.insert(at + kind.first.size(), place_of(model, manifest, kind.first));
      break;
    }
    throw ModelError(text);
  } catch (const FileError& error) {
    throw FileError(hint(error.what(), "When files can be written again"));
  } catch (const SystemError& error) {
    throw SystemError(hint(error.what(), "When the system allows it"));
  } catch (const std::bad_alloc&) {
    throw SystemError(hint("out of memory", "With more memory, or fewer --threads"));
  }
}

}  // namespace rehmc::cli
