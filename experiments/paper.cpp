// Runs the sections in order, tells how far they are, and writes what came out.
#include "experiments/paper.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include "experiments/agenda.hpp"
#include "experiments/claims.hpp"
#include "experiments/csv.hpp"
#include "experiments/overhead.hpp"
#include "experiments/results.hpp"
#include "experiments/sharpening.hpp"
#include "experiments/trajectory.hpp"
#include "experiments/tuning.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc::experiments {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

/// Of the files in `pieces`: to be raised when what is stored changes.
constexpr int piece_format = 3;

/// The folder belongs to one scale and seed: pieces of others must not mix.
void claim_folder(const PaperSettings& settings, const fs::path& pieces) {
  const std::string mine = fmt::format("format {}\nscale {}\nseed {}\n", piece_format,
                                       describe(settings.scale), settings.seed);
  const fs::path mark = pieces / "settings.txt";
  if (settings.fresh) fs::remove_all(pieces);
  std::error_code failure;
  fs::create_directories(pieces, failure);
  if (failure) {
    throw CreateError(fmt::format("{}: cannot be made: {}", pieces.string(), failure.message()));
  }
  if (!fs::exists(mark)) {
    write_whole(mark, mine);
    return;
  }
  std::string theirs = read_file(mark);
  if (theirs == mine) return;
  std::replace(theirs.begin(), theirs.end(), '\n', ' ');
  throw ConfigError(fmt::format(
      "setting output: {} holds a run of {}which cannot go on as scale {} seed {}; choose another "
      "folder, or --fresh to begin anew",
      settings.output.string(), theirs, describe(settings.scale), settings.seed));
}

/// Seconds of the clock that went into the pieces of a folder, in however many runs. A run counts
/// up to its last finished piece.
class Stopwatch {
 public:
  explicit Stopwatch(const fs::path& pieces) : file_(pieces / "seconds.csv") {
    if (fs::exists(file_)) earlier_ = Table::read(file_).number(0, "seconds");
  }

  double seconds_of_this_run() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  void note_finished_piece() {
    in_pieces_ = seconds_of_this_run();
    Table table({"seconds"});
    table.append({seconds_of_all_runs()});
    table.write(file_);
  }
  double seconds_of_all_runs() const { return earlier_ + in_pieces_; }

 private:
  Clock::time_point begin_ = Clock::now();
  fs::path file_;
  double earlier_ = 0;
  double in_pieces_ = 0;  ///< of this run
};

std::set<std::string> wanted_sections(const PaperSettings& settings) {
  std::vector<std::string> names;
  for (const Section& section : sections()) names.push_back(section.name);
  if (settings.sections.empty()) return {names.begin(), names.end()};
  for (const std::string& wanted : settings.sections) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) continue;
    throw ConfigError(fmt::format("there is no section '{}'{} The sections: {}", wanted,
                                  did_you_mean(wanted, names), fmt::join(names, ", ")));
  }
  return {settings.sections.begin(), settings.sections.end()};
}

}  // namespace

const std::vector<Section>& sections() {
  static const std::vector<Section> all{
      {"trajectory", "one recycled trajectory on a banana (Figure 1)"},
      {"gaussian", "the multivariate Gaussian, d = 250: gains, counts, lengths, components"},
      {"logistic", "hierarchical logistic regression, d = 302: gains, counts, lengths"},
      {"volatility", "stochastic volatility, d = 3000: gains, counts, lengths"},
      {"cox", "the log-Gaussian Cox process, d = 4096: gains, counts, lengths"},
      {"gradients", "gradients as control variates on all four test cases"},
      {"tuning", "mass matrices estimated with and without recycling: Gaussian and logistic"},
      {"overhead", "what recycling costs in time and memory on all four test cases"},
  };
  return all;
}

void run_paper(const PaperSettings& settings, const PaperCallbacks& callbacks) {
  const std::set<std::string> wanted = wanted_sections(settings);
  Workshop workshop;
  workshop.scale = settings.scale;
  workshop.seed = settings.seed;
  workshop.threads = settings.threads;
  workshop.pieces = settings.output / "pieces";
  workshop.data_folder = settings.data_folder;
  workshop.stop = callbacks.stop;
  claim_folder(settings, workshop.pieces);
  Stopwatch stopwatch(workshop.pieces);

  Agenda agenda(settings.scale, wanted);
  agenda.forget_finished(workshop.pieces);
  PaperProgress progress;
  workshop.finished = [&](const std::string& piece) {
    agenda.finish(piece);
    stopwatch.note_finished_piece();
    progress.piece = piece;
    progress.done = agenda.done();
    progress.seconds = stopwatch.seconds_of_this_run();
    progress.seconds_left =
        progress.done > 0 ? progress.seconds * (1 - progress.done) / progress.done : 0;
    callbacks.progress(progress);
  };

  std::vector<std::unique_ptr<CaseResults>> cases;
  for (const CaseName name : all_cases) {
    progress.section = describe(name);
    auto results =
        wanted.contains(describe(name)) ? run_case(workshop, name) : load_case(workshop, name);
    if (results == nullptr) continue;
    if (!results->test_case.notice.empty()) callbacks.notice(results->test_case.notice);
    cases.push_back(std::move(results));
  }
  write_results(cases, settings.output);
  if (wanted.contains("trajectory")) write_trajectory(settings.output);
  // Cases that a study leaves out at this scale have nothing to be laid.
  const auto study_cases = [&](const std::string& section, auto&& takes_part, auto&& run) {
    if (!wanted.contains(section)) return;
    progress.section = section;
    for (const CaseName name : all_cases) {
      if (takes_part(name)) run(lay_foundation(workshop, name));
    }
  };
  const Scale scale = settings.scale;
  std::vector<TuningStudy> tuning;
  study_cases(
      "tuning", [&](CaseName name) { return !tuning_size_of(scale, name).lengths.empty(); },
      [&](const Foundation& base) {
        tuning.push_back(run_tuning(workshop, base.test_case, base.preparation, base.truth));
      });
  if (!tuning.empty()) write_tuning(tuning, settings.output);
  std::vector<SharpeningStudy> gradients;
  study_cases(
      "gradients", [&](CaseName name) { return sharpening_runs_of(scale, name) > 0; },
      [&](const Foundation& base) {
        gradients.push_back(run_sharpening(workshop, base.test_case, base.preparation, base.truth));
      });
  if (!gradients.empty()) write_sharpening(gradients, settings.output);
  std::vector<OverheadRow> overhead;
  study_cases(
      "overhead", [](CaseName) { return true; },
      [&](const Foundation& base) {
        const auto make_density = [&] {
          return make_test_case(base.test_case.name, workshop.data_folder, cox_grid_of(scale))
              .density;
        };
        for (OverheadRow& row :
             run_overhead(workshop, base.test_case, base.preparation, base.truth, make_density)) {
          overhead.push_back(std::move(row));
        }
      });
  if (!overhead.empty()) write_overhead(overhead, settings.output);
  write_claims(judge_claims(cases, settings.output), settings.output);

  Table run({"key", "value"});
  run.append({"scale", describe(settings.scale)});
  run.append({"seed", settings.seed});
  run.append({"version", REHMC_VERSION});
  run.append({"machine", fmt::format("{} of {} cores, {}",
                                     settings.threads == 0 ? std::thread::hardware_concurrency()
                                                           : settings.threads,
                                     std::thread::hardware_concurrency(), processor_name())});
  run.append({"date", today()});
  run.append({"seconds", stopwatch.seconds_of_all_runs()});
  run.write(settings.output / "run.csv");
}

}  // namespace rehmc::experiments
