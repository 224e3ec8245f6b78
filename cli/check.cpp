// rehmc check: checks a run folder for missing or damaged files.
#include <fmt/format.h>

#include <memory>

#include "command.hpp"
#include "print.hpp"
#include "print_error.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/job/check_run.hpp"

namespace rehmc::cli {

namespace {

int check(const std::string& run, bool verbose) {
  const RunFolder folder(run);
  std::size_t problems = 0;
  std::size_t notes = 0;
  for (const Finding& finding : check_run(folder)) {
    const bool good = finding.kind == Finding::Kind::good;
    problems += finding.kind == Finding::Kind::problem;
    notes += finding.kind == Finding::Kind::note;
    if (good && !verbose) continue;
    print("{:<8} {}\n",
          good                                  ? "ok"
          : finding.kind == Finding::Kind::note ? "note"
                                                : "PROBLEM",
          plain_message(finding.text));
  }
  if (problems > 0) {
    print("{}: {} found\n", run,
          problems == 1 ? "one problem" : fmt::format("{} problems", problems));
    return static_cast<int>(ExitCode::data);
  }
  print("{}: no problems found{}\n", run, notes > 0 ? " so far" : "");
  return 0;
}

}  // namespace

void add_check(Command app, Action& chosen) {
  Command command = app.subcommand("check", "Check a run folder for missing or damaged files");
  struct Options {
    std::string run;
    bool verbose = false;
  };
  const auto options = std::make_shared<Options>();
  command.option("RUN", options->run, "the folder of the run").required();
  command.flag("--verbose,-v", options->verbose, "also list what is fine");
  command.when_chosen(
      [&chosen, options] { chosen = [options] { return check(options->run, options->verbose); }; });
}

}  // namespace rehmc::cli
