// Runs the sections in order, reports progress, and writes the tables.
#include "experiments/paper.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include "experiments/agenda.hpp"
#include "experiments/claims.hpp"
#include "experiments/csv.hpp"
#include "experiments/overhead.hpp"
#include "experiments/results.hpp"
#include "experiments/sharpening.hpp"
#include "experiments/trajectory.hpp"
#include "experiments/tuning.hpp"
#include "rehmc/core/processor.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc::experiments {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

/// Version of the files in `pieces`: increase it when their contents change.
constexpr int piece_format = 4;

/// Tables in which the rows of studies stay that are not run again.
constexpr const char* merged_tables[] = {"run.csv",    "settings.csv",   "notice.csv",
                                         "counts.csv", "lengths.csv",    "components.csv",
                                         "claims.csv", "sensitivity.csv"};

/// Tables without pieces, as they are committed, must be of the same scale and seed, too.
void require_tables_of(const PaperSettings& settings) {
  const fs::path file = settings.output / "run.csv";
  if (!fs::exists(file)) return;
  const Table run = Table::read(file);
  for (const auto& [key, mine] :
       {std::pair<std::string, std::string>{"scale", describe(settings.scale)},
        {"seed", fmt::to_string(settings.seed)}}) {
    for (std::size_t row = 0; row < run.rows(); ++row) {
      if (run.text(row, "key") != key || run.text(row, "value") == mine) continue;
      throw ConfigError(fmt::format(
          "setting output: {} holds tables of {} {}, which cannot be mixed with those of {} {}; "
          "choose another folder, or --fresh to start over",
          settings.output.string(), key, run.text(row, "value"), key, mine));
    }
  }
}

/// A folder belongs to one scale and seed: pieces of different runs must not mix.
void claim_folder(const PaperSettings& settings, const fs::path& pieces) {
  const std::string mine = fmt::format("format {}\nscale {}\nseed {}\n", piece_format,
                                       describe(settings.scale), settings.seed);
  const fs::path mark = pieces / "settings.txt";
  if (settings.fresh) {
    fs::remove_all(pieces);
    for (const char* table : merged_tables) fs::remove(settings.output / table);
  }
  std::error_code failure;
  fs::create_directories(pieces, failure);
  if (failure) {
    throw CreateError(fmt::format("{}: cannot be created: {}", pieces.string(), failure.message()));
  }
  if (!fs::exists(mark)) {
    require_tables_of(settings);
    write_whole(mark, mine);
    return;
  }
  std::string theirs = read_file(mark);
  if (theirs == mine) return;
  std::replace(theirs.begin(), theirs.end(), '\n', ' ');
  throw ConfigError(
      fmt::format("setting output: {} holds a run of {}which cannot continue as scale {} seed {}; "
                  "choose another "
                  "folder, or --fresh to start over",
                  settings.output.string(), theirs, describe(settings.scale), settings.seed));
}

/// Wall-clock seconds spent on the pieces of a folder, over all runs. A run counts up to its last
/// finished piece.
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

WantedParts wanted_parts(const PaperSettings& settings) {
  std::vector<std::string> names;
  for (const Section& section : sections()) names.push_back(section.name);
  if (settings.sections.empty()) return {names.begin(), names.end()};
  std::vector<std::string> known = names;
  std::ranges::move(studies(), std::back_inserter(known));
  for (const std::string& wanted : settings.sections) {
    if (std::find(known.begin(), known.end(), wanted) != known.end()) continue;
    throw ConfigError(fmt::format(
        "there is no section '{}'{} The sections: {}; --list also lists the studies of each case",
        wanted, did_you_mean(wanted, known), fmt::join(names, ", ")));
  }
  return {settings.sections.begin(), settings.sections.end()};
}

/// One run of the wanted sections.
class PaperRun {
 public:
  PaperRun(const PaperSettings& settings, const PaperCallbacks& callbacks)
      : settings_(settings),
        callbacks_(callbacks),
        wanted_(wanted_parts(settings)),
        workshop_(make_workshop()),
        stopwatch_(workshop_.pieces),
        agenda_(settings.scale, wanted_) {
    agenda_.forget_finished(workshop_.pieces);
    workshop_.finished = [this](const std::string& piece) { report(piece); };
  }

  void run() {
    const fs::path& folder = settings_.output;
    const std::vector<std::unique_ptr<CaseResults>> cases = run_cases();
    write_results(cases, folder);
    if (wanted_.contains("trajectory")) write_trajectory(folder);
    run_tuning_study();
    run_gradients_study();
    run_overhead_study();
    write_claims(judge_claims(cases, folder), cases, folder);
    write_run();
  }

 private:
  Workshop make_workshop() {
    Workshop workshop;
    workshop.scale = settings_.scale;
    workshop.seed = settings_.seed;
    workshop.threads = settings_.threads;
    workshop.pieces = settings_.output / "pieces";
    workshop.data_folder = settings_.data_folder;
    workshop.stop = callbacks_.stop;
    claim_folder(settings_, workshop.pieces);
    return workshop;
  }

  void report(const std::string& piece) {
    agenda_.finish(piece);
    stopwatch_.note_finished_piece();
    progress_.piece = piece;
    progress_.done = agenda_.done();
    progress_.seconds = stopwatch_.seconds_of_this_run();
    progress_.seconds_left =
        progress_.done > 0 ? progress_.seconds * (1 - progress_.done) / progress_.done : 0;
    callbacks_.progress(progress_);
  }

  std::vector<std::unique_ptr<CaseResults>> run_cases() {
    std::vector<std::unique_ptr<CaseResults>> cases;
    for (const CaseName name : all_cases) {
      progress_.section = describe(name);
      auto results = run_case(workshop_, name, wanted_);
      if (results == nullptr) continue;
      if (!results->test_case.notice.empty()) callbacks_.notice(results->test_case.notice);
      cases.push_back(std::move(results));
    }
    return cases;
  }

  /// Calls `run` with the foundation of every case that takes part in the section at this scale.
  template <class TakesPart, class Run>
  void study_cases(const std::string& section, TakesPart&& takes_part, Run&& run) {
    if (!wanted_.contains(section)) return;
    progress_.section = section;
    for (const CaseName name : all_cases) {
      if (takes_part(name)) run(lay_foundation(workshop_, name));
    }
  }

  void run_tuning_study() {
    std::vector<TuningStudy> studies;
    study_cases(
        "tuning",
        [&](CaseName name) { return !tuning_size_of(settings_.scale, name).lengths.empty(); },
        [&](const Foundation& base) {
          studies.push_back(run_tuning(workshop_, base.test_case, base.preparation, base.truth));
        });
    if (!studies.empty()) write_tuning(studies, settings_.output);
  }

  void run_gradients_study() {
    std::vector<SharpeningStudy> studies;
    study_cases(
        "gradients", [&](CaseName name) { return sharpening_runs_of(settings_.scale, name) > 0; },
        [&](const Foundation& base) {
          studies.push_back(
              run_sharpening(workshop_, base.test_case, base.preparation, base.truth));
        });
    if (!studies.empty()) write_sharpening(studies, settings_.output);
  }

  void run_overhead_study() {
    std::vector<OverheadRow> rows;
    study_cases(
        "overhead", [](CaseName) { return true; },
        [&](const Foundation& base) {
          const auto make_density = [&] {
            return make_test_case(base.test_case.name, workshop_.data_folder,
                                  cox_grid_of(settings_.scale))
                .density;
          };
          std::ranges::move(
              run_overhead(workshop_, base.test_case, base.preparation, base.truth, make_density),
              std::back_inserter(rows));
        });
    if (!rows.empty()) write_overhead(rows, settings_.output);
  }

  void write_run() const {
    const std::size_t cores = std::thread::hardware_concurrency();
    const std::size_t threads = settings_.threads == 0 ? cores : settings_.threads;
    Table run({"key", "value"});
    run.append({"scale", describe(settings_.scale)});
    run.append({"seed", settings_.seed});
    run.append({"version", REHMC_VERSION});
    run.append({"machine", fmt::format("{} of {} cores, {}", threads, cores, processor_name())});
    run.append({"date", today()});
    run.append({"seconds", stopwatch_.seconds_of_all_runs()});
    run.write(settings_.output / "run.csv");
  }

  const PaperSettings& settings_;
  const PaperCallbacks& callbacks_;
  WantedParts wanted_;
  Workshop workshop_;
  Stopwatch stopwatch_;
  Agenda agenda_;
  PaperProgress progress_;
};

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

std::vector<std::string> studies() {
  std::vector<std::string> names;
  for (const CaseName name : all_cases) {
    for (const StudyPart& part : studies_of(name)) names.push_back(part.name);
  }
  return names;
}

void run_paper(const PaperSettings& settings, const PaperCallbacks& callbacks) {
  PaperRun(settings, callbacks).run();
}

}  // namespace rehmc::experiments
