// rehmc paper: runs the experiments of the paper and writes numbers, figures and a page.
#include "experiments/paper.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "display.hpp"
#include "experiments/csv.hpp"
#include "experiments/page.hpp"
#include "interrupt.hpp"

namespace rehmc::cli {

namespace fs = std::filesystem;

namespace {

struct PaperOptions {
  experiments::PaperSettings settings;
  std::string scale = "quick";
  std::string output;
  std::string data_folder;
  bool draw_only = false;
  bool list = false;
};

void print_sections() {
  for (const experiments::Section& section : experiments::sections()) {
    fmt::print("{:<12}  {}\n", section.name, section.summary);
  }
}

void show(const experiments::PaperProgress& progress) {
  const std::string line =
      fmt::format("{:3.0f}%  {:<28} {} so far, about {} left", 100 * progress.done, progress.piece,
                  duration_text(progress.seconds), duration_text(progress.seconds_left));
  if (isatty(STDERR_FILENO) != 0) {
    fmt::print(stderr, "\r{:<79}", line);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

/// What the page says in full, in a few lines.
void print_claims(const fs::path& folder) {
  const experiments::Table claims = experiments::Table::read(folder / "claims.csv");
  std::size_t agree = 0;
  for (std::size_t row = 0; row < claims.rows(); ++row) {
    const bool agrees = claims.text(row, "verdict") == "agrees";
    agree += agrees;
    if (agrees) continue;
    fmt::print(
        "{}: {}: {}\n  paper: {}\n  measured: {}{}\n", claims.text(row, "verdict"),
        claims.text(row, "section"), claims.text(row, "claim"), claims.text(row, "paper"),
        claims.text(row, "measured"),
        claims.text(row, "error").empty() ? "" : " (error " + claims.text(row, "error") + ")");
  }
  fmt::print("{} of {} claims of the paper agree with what was measured.\n", agree, claims.rows());
}

int run(PaperOptions options) {
  if (options.list) {
    print_sections();
    return 0;
  }
  options.settings.scale = experiments::parse_scale(options.scale);
  options.settings.output =
      options.output.empty() ? fs::path("paper-" + options.scale) : fs::path(options.output);
  options.settings.data_folder = options.data_folder;
  if (!options.data_folder.empty() && !fs::is_directory(options.data_folder)) {
    throw NoInputError(fmt::format("setting data_dir: there is no folder {}", options.data_folder));
  }
  if (!options.draw_only) {
    experiments::PaperCallbacks callbacks;
    callbacks.stop = &catch_interrupts();
    callbacks.progress = show;
    callbacks.notice = [](const std::string& text) { fmt::print(stderr, "\n{}\n", text); };
    try {
      experiments::run_paper(options.settings, callbacks);
    } catch (const experiments::Stopped& stopped) {
      fmt::print(
          stderr,
          "\nrehmc: stopped; what was finished is kept. Run the same command again to go on.\n");
      return static_cast<int>(stopped.code());
    }
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\n");
  }
  experiments::draw_results(options.settings.output);
  print_claims(options.settings.output);
  fmt::print("The page: {}\n", (options.settings.output / "paper.html").string());
  return 0;
}

}  // namespace

void add_paper(Command app, Action& chosen) {
  Command command =
      app.subcommand("paper", "Reproduce the paper's experiments: numbers, figures, a page");
  const auto options = std::make_shared<PaperOptions>();
  command.option("SECTION", options->settings.sections,
                 "Sections to run (default: all); --list names them");
  command.flag("--list", options->list, "List the sections");
  command.option("--scale", options->scale,
                 "smoke (minutes), quick (about 20 minutes) or full (the paper's size)");
  command.option("--output", options->output,
                 "Folder for what comes out (default: paper-SCALE); a run that was stopped "
                 "goes on there");
  command.option("--data-dir", options->data_folder,
                 "Folder with the data sets (experiments/data/README.md); without them "
                 "simulated stand-ins are used");
  command.option("--seed", options->settings.seed, "Seed of all random numbers");
  command.option("--threads", options->settings.threads, "Threads; 0 for one per core");
  command.flag("--fresh", options->settings.fresh, "Forget what an earlier run has finished");
  command.flag("--draw-only", options->draw_only,
               "Run nothing: draw figures and page from the numbers in the folder");
  command.when_chosen([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace rehmc::cli
