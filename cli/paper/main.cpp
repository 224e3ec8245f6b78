// The program rehmc-paper: runs the paper's experiments, writes tables, draws figures and page.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "cli/command_line.hpp"
#include "cli/display.hpp"
#include "cli/interrupt.hpp"
#include "cli/paper/draw.hpp"
#include "cli/print.hpp"
#include "cli/print_error.hpp"
#include "experiments/claims.hpp"
#include "experiments/csv.hpp"
#include "experiments/paper.hpp"
#include "rehmc/core/error.hpp"

namespace rehmc {
namespace {

namespace fs = std::filesystem;

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
    cli::print("{:<12}  {}\n", section.name, section.summary);
  }
  cli::print("\nStudies of the test cases, which can be run by themselves:\n");
  for (const std::string& study : experiments::studies()) cli::print("  {}\n", study);
}

void show(const experiments::PaperProgress& progress) {
  const std::string line =
      fmt::format("{:3.0f}%  {:<28} {} so far, about {} left", 100 * progress.done, progress.piece,
                  cli::duration_text(progress.seconds), cli::duration_text(progress.seconds_left));
  if (isatty(STDERR_FILENO) != 0) {
    cli::write_controls("\r");
    cli::tell("{:<79}", line);
  } else {
    cli::tell("{}\n", line);
  }
  std::fflush(stderr);
}

/// The claims that do not agree, and how many do; the page has all of them.
void print_claims(const fs::path& folder) {
  if (!fs::exists(folder / "claims.csv")) return;
  const experiments::Table claims = experiments::Table::read(folder / "claims.csv");
  std::size_t agree = 0;
  std::size_t in_part = 0;
  std::size_t counted = 0;
  for (std::size_t row = 0; row < claims.rows(); ++row) {
    const auto text = [&](const char* column) { return claims.text(row, column); };
    if (text("section") != experiments::uncounted_section) {
      ++counted;
      agree += text("agreement") == describe(experiments::Agreement::agrees);
      in_part += text("agreement") == describe(experiments::Agreement::in_part);
    }
    if (text("agreement") == describe(experiments::Agreement::agrees)) continue;
    cli::print("{}: {}: {}\n  paper: {}\n  measured: {}{}\n", text("agreement"), text("section"),
               text("claim"), text("paper"), text("measured"),
               text("error").empty() ? "" : " (error " + text("error") + ")");
  }
  cli::print("{} of {} claims of the paper agree with what was measured, and {} more in part.\n",
             agree, counted, in_part);
}

/// Writes the tables; false if the user stopped it.
bool compute(const experiments::PaperSettings& settings) {
  experiments::PaperCallbacks callbacks;
  callbacks.stop = &cli::catch_interrupts();
  callbacks.progress = show;
  callbacks.notice = [](const std::string& text) { cli::tell("\n{}\n", text); };
  try {
    experiments::run_paper(settings, callbacks);
  } catch (const experiments::Stopped&) {
    cli::tell(
        "\nrehmc: stopped; what was finished is kept. Run the same command again to "
        "continue.\n");
    return false;
  }
  if (isatty(STDERR_FILENO) != 0) cli::tell("\n");
  return true;
}

int run_paper(PaperOptions options) {
  if (options.list) {
    print_sections();
    return 0;
  }
  options.settings.scale = experiments::parse_scale(options.scale);
  const fs::path folder =
      options.output.empty() ? fs::path("paper-" + options.scale) : fs::path(options.output);
  options.settings.output = folder;
  options.settings.data_folder = options.data_folder;
  if (!options.data_folder.empty() && !fs::is_directory(options.data_folder)) {
    throw NoInputError(fmt::format("setting data_dir: there is no folder {}", options.data_folder));
  }
  if (!options.draw_only && !compute(options.settings)) {
    return static_cast<int>(ExitCode::interrupted);
  }
  const cli::Drawing drawing = cli::draw_results(folder);
  if (drawing.exit_code == 0) {
    print_claims(folder);
    cli::print("The page: {}\n", (folder / "paper.html").string());
    return 0;
  }
  const bool tables_suffice = drawing.lacks_packages && !options.draw_only;
  if (tables_suffice) {
    print_claims(folder);
    cli::print("The tables: {}\n", folder.string());
  }
  cli::tell("{}{}{}", drawing.message.starts_with("rehmc: ") ? "" : "rehmc: ", drawing.message,
            drawing.message.ends_with('\n') ? "" : "\n");
  return tables_suffice ? 0 : drawing.exit_code;
}

void add_options(cli::Command command, PaperOptions& options) {
  command.option("SECTION", options.settings.sections,
                 "Sections or studies to run (default: all sections); --list lists them");
  command.flag("--list", options.list, "List the sections");
  command.option("--scale", options.scale,
                 "smoke (minutes), quick (about 20 minutes) or full (the paper's size: hours)");
  command.option("--output", options.output,
                 "Folder for tables, figures and page (default: paper-SCALE); a run that was "
                 "stopped continues there");
  command.option("--data-dir", options.data_folder,
                 "Folder with the data sets (experiments/data/README.md); simulated data replace "
                 "those that are missing");
  command.option("--seed", options.settings.seed, "Seed of all random numbers");
  command.option("--threads", options.settings.threads, "Threads; 0 for one per core");
  command.flag("--fresh", options.settings.fresh, "Discard what an earlier run has finished");
  command.flag("--draw-only", options.draw_only,
               "Run no simulation: draw figures and page from the tables in the folder");
}

int run(int count, char** words) {
  cli::CommandLine line("rehmc-paper",
                        "Reproduce the experiments of Nishimura & Dunson (2020): tables, figures, "
                        "a page",
                        REHMC_VERSION);
  PaperOptions options;
  add_options(line.root(), options);
  try {
    if (const auto done = line.parse(count, words)) return *done;
    return run_paper(options);
  } catch (const cli::UsageError& error) {
    cli::tell("rehmc: {}\nFor all options: rehmc-paper --help\n", error.what());
    return static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    return cli::print_error(error, line.option_names());
  }
}

}  // namespace
}  // namespace rehmc

int main(int count, char** words) { return rehmc::cli::finish_printing(rehmc::run(count, words)); }
