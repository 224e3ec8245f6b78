// Turns studies into tables.
#include "experiments/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/csv.hpp"

namespace rehmc::experiments {

namespace fs = std::filesystem;

namespace {

/// Girolami and Calderhead (2011) used 0.1; with this one the longest paths, 30 steps, have length
/// 4.5, three quarters of a period of a standard normal.
constexpr double small_step = 0.15;
constexpr double enough = 0.95;  ///< of the ESS of recycling everything

std::string preparation_name(CaseName name) { return describe(name) + "-preparation"; }

/// The average over estimators: without the means for the Gaussian, as in the paper, because the
/// gain of means of narrow coordinates has no bound.
Measured share(const CaseResults& results, const Gains& gains, std::size_t arm) {
  return results.test_case.exact ? gains.share_of_all_but_means(arm) : gains.share_of_all(arm);
}

void write_parameters(const CaseResults& results, KernelKind kind, const fs::path& folder) {
  const Gains& gains = results.of(kind);
  std::vector<std::string> columns{"parameter", "scale", "k"};
  for (const char* statistic : statistic_names) {
    for (const char* what : {"plain", "recycled", "log2", "log2_error", "log2_short", "log2_k"}) {
      columns.push_back(fmt::format("{}_{}", statistic, what));
    }
  }
  struct Columns {
    std::vector<double> plain;
    std::vector<double> recycled;
    std::vector<Measured> log2;
    std::vector<double> log2_short;
    std::vector<Measured> log2_k;
  };
  std::vector<Columns> by_statistic;
  const Study& study = gains.study();
  for (std::size_t s = 0; s < statistics; ++s) {
    const auto statistic = static_cast<Statistic>(s);
    by_statistic.push_back({gains.ess_per_iteration(0, statistic),
                            gains.ess_per_iteration(1, statistic),
                            gains.log2_by_parameter(1, statistic), gains.log2_short(statistic),
                            gains.log2_by_parameter(study.paper_arm, statistic)});
  }
  Table table(columns);
  // Four digits are more precise than the errors.
  const auto digits = [](double value) { return Cell(fmt::format("{:.4g}", value)); };
  for (std::size_t i = 0; i < results.truth.sd.size(); ++i) {
    std::vector<Cell> row{i + 1, digits(results.truth.sd[i]), study.arms[study.paper_arm].count};
    for (const Columns& c : by_statistic) {
      row.insert(row.end(),
                 {digits(c.plain[i]), digits(c.recycled[i]), digits(c.log2[i].value),
                  digits(c.log2[i].error), digits(c.log2_short[i]), digits(c.log2_k[i].value)});
    }
    table.append(std::move(row));
  }
  table.write(folder / fmt::format("{}-{}.csv", describe(results.test_case.name), describe(kind)));
}

void write_counts_by_parameter(const CaseResults& results, KernelKind kind,
                               const fs::path& folder) {
  const Gains& gains = results.of(kind);
  std::vector<std::string> columns{"parameter"};
  std::vector<std::vector<Measured>> ratios;
  const std::vector<Arm>& arms = gains.study().arms;
  for (std::size_t a = 0; a < arms.size(); ++a) {
    if (arms[a].family != Family::final_state) continue;
    columns.push_back(fmt::format("k{}", arms[a].count));
    ratios.push_back(gains.log2_by_parameter(a, Statistic::quantile));
  }
  Table table(columns);
  for (std::size_t i = 0; i < results.truth.sd.size(); ++i) {
    std::vector<Cell> row{i + 1};
    for (const auto& ratio : ratios) row.emplace_back(fmt::format("{:.4g}", ratio[i].value));
    table.append(std::move(row));
  }
  table.write(folder /
              fmt::format("counts-{}-{}.csv", describe(results.test_case.name), describe(kind)));
}

void append_settings(const CaseResults& results, KernelKind kind, Table& table) {
  const Gains& gains = results.of(kind);
  const double hmc_length = results.test_case.path_rule == PathRule::up_to_thirty
                                ? gains.leapfrogs() * step_size(results.preparation, kind)
                                : results.preparation.path_length;
  table.append({describe(results.test_case.name), describe(kind),
                step_size(results.preparation, kind), gains.acceptance(), gains.leapfrogs(),
                traits(kind).shape == TrajectoryShape::path
                    ? hmc_length
                    : gains.leapfrogs() * step_size(results.preparation, kind),
                results.size.chains, results.size.iterations, results.truth.iterations,
                truth_share(results, kind), gains.seconds(),
                1e6 * gains.seconds() / gains.leapfrogs_in_all(),
                results.test_case.exact ? "exact" : "NUTS, all states recycled"});
}

void append_counts(const CaseResults& results, KernelKind kind, Table& table) {
  const Gains& gains = results.of(kind);
  const std::string name = describe(results.test_case.name);
  const std::vector<Arm>& arms = gains.study().arms;
  for (std::size_t a = 1; a < arms.size(); ++a) {
    const std::vector<Measured> log2 = gains.mean_log2(a);
    const Measured part = share(results, gains, a);
    for (std::size_t s = 0; s < statistics; ++s) {
      table.append({name, describe(kind), describe(arms[a].family), arms[a].count,
                    statistic_names[s], log2[s].value, log2[s].error, "nan", "nan"});
    }
    table.append({name, describe(kind), describe(arms[a].family), arms[a].count, "all", "nan",
                  "nan", part.value, part.error});
  }
}

void append_lengths(const CaseResults& results, KernelKind kind, Table& table) {
  const Gains& gains = results.of(kind);
  for (std::size_t l = 0; l < length_divisors.size(); ++l) {
    const std::vector<Measured> log2 = gains.mean_log2_at(l, 1);
    for (std::size_t s = 0; s < statistics; ++s) {
      table.append({describe(results.test_case.name), describe(kind),
                    1 / static_cast<double>(length_divisors[l]), statistic_names[s], log2[s].value,
                    log2[s].error});
    }
  }
}

void append_components(const CaseResults& results, KernelKind kind, Table& table) {
  const Gains& gains = results.of(kind);
  for (std::size_t l = 0; l < gains.total().components.size(); ++l) {
    for (const auto quantity : {ComponentQuantity::angle, ComponentQuantity::eigenvalue}) {
      const Gains::Component component = gains.component(l, quantity);
      table.append({describe(kind), results.size.iterations / length_divisors[l],
                    quantity == ComponentQuantity::angle ? "angle" : "eigenvalue",
                    component.log2.value, component.log2.error, component.plain,
                    component.recycled});
    }
  }
}

}  // namespace

const Gains& CaseResults::of(KernelKind kind) const { return gains[place_of(kind)]; }

Foundation lay_foundation(const Workshop& workshop, CaseName name) {
  TestCase test_case = make_test_case(name, workshop.data_folder, cox_grid_of(workshop.scale));
  Preparation preparation =
      workshop.load_or_make(preparation_name(name), [&] { return prepare(workshop, test_case); });
  Truth truth = find_truth(workshop, test_case, preparation);
  return {std::move(test_case), std::move(preparation), std::move(truth)};
}

std::unique_ptr<CaseResults> run_case(const Workshop& workshop, CaseName name) {
  auto results = std::make_unique<CaseResults>(
      CaseResults{lay_foundation(workshop, name), size_of(workshop.scale, name), {}, {}, nullptr});
  for (std::size_t k = 0; k < std::size(all_kernels); ++k) {
    results->studies[k] = run_study(workshop, results->test_case, results->preparation,
                                    results->truth, all_kernels[k]);
  }
  if (name == CaseName::cox) {
    Preparation small = results->preparation;
    small.step_sizes[place_of(KernelKind::hmc)] = small_step;
    results->small_steps = std::make_unique<Study>(run_study(
        workshop, results->test_case, small, results->truth, KernelKind::hmc, small_steps_variant));
  }
  // They point at the studies, which do not move from here on.
  for (const Study& study : results->studies) results->gains.emplace_back(study);
  return results;
}

std::unique_ptr<CaseResults> load_case(const Workshop& workshop, CaseName name) {
  const auto there = [&](const std::string& piece) {
    return fs::exists(workshop.pieces / (piece + ".bin"));
  };
  if (!there(preparation_name(name))) return nullptr;
  const Size size = size_of(workshop.scale, name);
  for (std::size_t g = 0; g < size.groups; ++g) {
    for (const KernelKind kind : all_kernels) {
      if (!there(fmt::format("{}-{}", study_name(name, kind), g))) return nullptr;
    }
    const std::string small = study_name(name, KernelKind::hmc, small_steps_variant);
    if (name == CaseName::cox && !there(fmt::format("{}-{}", small, g))) return nullptr;
  }
  return run_case(workshop, name);
}

std::size_t sufficient_count(const CaseResults& results, KernelKind kind) {
  const Gains& gains = results.of(kind);
  std::size_t least = 0;
  const std::vector<Arm>& arms = gains.study().arms;
  for (std::size_t a = 0; a < arms.size(); ++a) {
    if (arms[a].family != Family::final_state) continue;
    if (share(results, gains, a).value < enough) continue;
    if (least == 0 || arms[a].count < least) least = arms[a].count;
  }
  return least;
}

double share_with(const CaseResults& results, KernelKind kind, std::size_t count) {
  const Gains& gains = results.of(kind);
  const std::vector<Arm>& arms = gains.study().arms;
  const Arm arm{Family::final_state, count};
  if (std::find(arms.begin(), arms.end(), arm) == arms.end()) return std::nan("");
  return share(results, gains, gains.arm(arm.family, arm.count)).value;
}

double truth_share(const CaseResults& results, KernelKind kind) {
  const ErrorSums& total = results.of(kind).total();
  double worst = 0;
  for (std::size_t s = 0; s < statistics; ++s) {
    double sum = 0;
    for (std::size_t i = 0; i < results.truth.sd.size(); ++i) {
      const double truth =
          results.truth.error[s][i] * results.truth.error[s][i] / results.truth.unit_variance[s][i];
      sum += truth / (static_cast<double>(total.arms[1][s][i]) / total.chains);
    }
    worst = std::max(worst, sum / static_cast<double>(results.truth.sd.size()));
  }
  return worst;
}

void write_results(const std::vector<std::unique_ptr<CaseResults>>& cases, const fs::path& folder) {
  Table settings({"case", "kernel", "step_size", "acceptance", "leapfrogs", "path_length", "chains",
                  "iterations", "truth_iterations", "truth_error", "seconds",
                  "microseconds_per_leapfrog", "truth_source"});
  Table notice({"case", "text"});
  Table counts({"case", "kernel", "family", "k", "statistic", "log2", "log2_error", "ess_share",
                "ess_share_error"});
  Table lengths({"case", "kernel", "fraction", "statistic", "log2", "log2_error"});
  Table components(
      {"kernel", "iterations", "quantity", "log2", "log2_error", "plain_rmse", "recycled_rmse"});
  for (const auto& results : cases) {
    if (!results->test_case.notice.empty()) {
      notice.append({describe(results->test_case.name), results->test_case.notice});
    }
    for (const KernelKind kind : all_kernels) {
      write_parameters(*results, kind, folder);
      write_counts_by_parameter(*results, kind, folder);
      append_settings(*results, kind, settings);
      append_counts(*results, kind, counts);
      append_lengths(*results, kind, lengths);
      append_components(*results, kind, components);
    }
  }
  settings.write(folder / "settings.csv");
  notice.write(folder / "notice.csv");
  counts.write(folder / "counts.csv");
  lengths.write(folder / "lengths.csv");
  components.write(folder / "components.csv");
}

}  // namespace rehmc::experiments
