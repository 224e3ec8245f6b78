// Runs, summaries and errors of plain, recycled and sharpened estimates.
#include "experiments/sharpening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "experiments/csv.hpp"
#include "experiments/groups.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/sharpening.hpp"
#include "rehmc/summary/summary.hpp"

namespace rehmc::experiments {

namespace {

constexpr int chains_of_run = 4;
constexpr int draws_of_chain = 1000;

struct SharpeningTask {
  const Workshop& workshop;
  const TestCase& test_case;
  const Preparation& preparation;
  const Truth& truth;
};

SampleSettings settings_of_run(const SharpeningTask& setting, std::size_t run) {
  const auto& [workshop, test_case, preparation, truth] = setting;
  const bool large = test_case.name == CaseName::volatility || test_case.name == CaseName::cox;
  SampleSettings settings;
  settings.chains = chains_of_run;
  settings.draws = draws_of_chain;
  settings.engine = EngineKind::batch;  // the runs share the threads, so each has one
  settings.threads = 1;
  settings.batch = chains_of_run;
  settings.seed = workshop.seed_of(fmt::format("{} sharpening {}", describe(test_case.name), run));
  settings.kernel.recycling = {RecyclingKind::spread, large ? 4U : 8U};
  settings.warmup.iterations = 0;
  settings.warmup.metric = MetricKind::unit;
  settings.warmup.step_size = step_size(preparation, KernelKind::nuts);
  for (std::uint32_t chain = 0; chain < chains_of_run; ++chain) {
    // Each chain of each run starts from its own state of the long run, far from all others.
    const auto number = static_cast<std::uint32_t>(run * chains_of_run) + chain;
    settings.start.push_back(starting_position(test_case, truth, {*settings.seed, number, 0}));
  }
  return settings;
}

std::array<double, sharpened_statistics.size()> values_of(const Estimate& estimate) {
  return {estimate.mean, estimate.sd, estimate.quantiles.back().value};
}

SharpeningRun errors_of(const Truth& truth, const std::vector<ParameterSummary>& rows) {
  SharpeningRun run;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ParameterSummary& row = rows[i];
    const double sd = std::sqrt(truth.value[1][i]);
    const double values[] = {truth.value[0][i], sd, truth.value[2][i]};
    const Estimate* const estimates[] = {
        &row.plain, &*row.recycled,
        row.sharpened ? &row.sharpened->estimate : &*row.recycled};  // what a summary shows
    for (std::size_t e = 0; e < estimators; ++e) {
      const auto found = values_of(*estimates[e]);
      for (std::size_t s = 0; s < found.size(); ++s) {
        run.errors[e][s].push_back(static_cast<float>((found[s] - values[s]) / sd));
      }
    }
    if (!row.sharpened) run.refused += 1 / static_cast<double>(rows.size());
  }
  return run;
}

SharpeningRun run_once(const SharpeningTask& setting, const std::optional<Density>& as_read,
                       std::size_t run) {
  SampleResult result = sample(setting.test_case.density, settings_of_run(setting, run),
                               {.interrupts = setting.workshop.stop});
  setting.workshop.check_stop();  // what a stopped run has is not used
  if (as_read) read_as_coordinates(setting.workshop, *as_read, result);
  std::vector<ParameterSummary> rows = summarise(result);
  setting.workshop.check_stop();
  sharpen_run(result, rows);
  return errors_of(setting.truth, rows);
}

RunErrors relative_errors(const Truth& truth) {
  RunErrors errors;
  for (std::size_t i = 0; i < truth.centre.size(); ++i) {
    const double variance = truth.value[1][i];
    const double sd = std::sqrt(variance);
    errors[0].push_back(static_cast<float>(truth.error[0][i] / sd));
    errors[1].push_back(static_cast<float>(truth.error[1][i] / (2 * variance)));  // of the root
    errors[2].push_back(static_cast<float>(truth.error[2][i] / sd));
  }
  return errors;
}

}  // namespace

void read_as_coordinates(const Workshop& workshop, Density density, SampleResult& result) {
  result.coordinates = density.names();
  result.quantities = density.quantities();
  const std::size_t d = density.dimension();
  std::vector<double> gradient(d);
  for (ChainResult& chain : result.chains) {
    ChainRecord& record = chain.record;
    record.kept_position = {};  // `kept` has them
    for (std::size_t s = 0; s * d < record.kept.size(); ++s) {
      workshop.check_stop();
      density(std::span(record.kept).subspan(s * d, d), gradient);
      std::copy(gradient.begin(), gradient.end(), record.kept_gradient.data() + s * d);
    }
  }
}

double SharpeningStudy::mean_square(std::size_t left_out, std::size_t statistic,
                                    std::size_t parameter, Estimator estimator) const {
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (r == left_out) continue;
    const double error = runs[r].errors[static_cast<std::size_t>(estimator)][statistic][parameter];
    sum += error;
    squares += error * error;
    ++count;
  }
  const double bias = sum / count;
  const double variance = std::max(0.0, squares - sum * bias) / (count - 1);
  const double of_truth = truth_error[statistic][parameter];
  const double bias_variance = variance / count + of_truth * of_truth;
  const bool significant = bias * bias > 9 * bias_variance;
  return variance + (significant ? bias * bias - bias_variance : 0);
}

std::vector<double> SharpeningStudy::log2_without(std::size_t left_out, std::size_t statistic,
                                                  Estimator estimator) const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < truth_error[statistic].size(); ++i) {
    ratios.push_back(std::log2(mean_square(left_out, statistic, i, Estimator::plain) /
                               mean_square(left_out, statistic, i, estimator)));
  }
  return ratios;
}

std::vector<double> SharpeningStudy::log2_by_parameter(std::size_t statistic,
                                                       Estimator estimator) const {
  return log2_without(runs.size(), statistic, estimator);
}

Measured SharpeningStudy::mean_log2(std::size_t statistic, Estimator estimator) const {
  return jackknife(runs.size(),
                   [&](std::size_t left_out) {
                     const auto ratios = log2_without(left_out, statistic, estimator);
                     double sum = 0;
                     for (const double ratio : ratios) sum += ratio;
                     return std::vector<double>{sum / static_cast<double>(ratios.size())};
                   })
      .front();
}

double SharpeningStudy::refused() const {
  double sum = 0;
  for (const SharpeningRun& run : runs) sum += run.refused;
  return sum / static_cast<double>(runs.size());
}

SharpeningStudy run_sharpening(const Workshop& workshop, const TestCase& test_case,
                               const Preparation& preparation, const Truth& truth) {
  const SharpeningTask setting{workshop, test_case, preparation, truth};
  const Groups groups{describe(test_case.name) + "-sharpening",
                      sharpening_runs_of(workshop.scale, test_case.name), 1};
  const std::optional<Density> as_read = density_as_read(test_case);
  return {test_case.name, relative_errors(truth),
          run_groups<SharpeningRun>(
              workshop, groups,
              [&](std::size_t runs) {
                return Engine(test_case.density, {EngineKind::threads, runs, workshop.threads, 1});
              },
              [&](const Density&, std::size_t run) { return run_once(setting, as_read, run); })};
}

void write_sharpening(std::span<const SharpeningStudy> studies,
                      const std::filesystem::path& folder) {
  Table all({"case", "statistic", "recycled_gain", "recycled_error", "sharpened_gain",
             "sharpened_error", "runs", "refused"});
  for (const SharpeningStudy& study : studies) {
    std::vector<std::string> columns{"parameter"};
    std::vector<std::vector<double>> ratios;
    for (std::size_t s = 0; s < sharpened_statistics.size(); ++s) {
      const Measured recycled = study.mean_log2(s, Estimator::recycled);
      const Measured sharpened = study.mean_log2(s, Estimator::sharpened);
      all.append({describe(study.name), sharpened_statistics[s], std::exp2(recycled.value),
                  recycled.error, std::exp2(sharpened.value), sharpened.error, study.runs.size(),
                  study.refused()});
      columns.push_back(fmt::format("{}_recycled", sharpened_statistics[s]));
      columns.push_back(fmt::format("{}_sharpened", sharpened_statistics[s]));
      ratios.push_back(study.log2_by_parameter(s, Estimator::recycled));
      ratios.push_back(study.log2_by_parameter(s, Estimator::sharpened));
    }
    Table table(columns);
    for (std::size_t i = 0; i < ratios.front().size(); ++i) {
      std::vector<Cell> row{i + 1};
      for (const auto& column : ratios) row.emplace_back(column[i]);
      table.append(std::move(row));
    }
    table.write(folder / fmt::format("sharpening-{}.csv", describe(study.name)));
  }
  all.write(folder / "sharpening.csv");
}

}  // namespace rehmc::experiments
