// Turns studies into tables.
#include "experiments/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "experiments/csv.hpp"

namespace rehmc::experiments {

namespace fs = std::filesystem;

namespace {

/// Girolami and Calderhead (2011) used 0.1; with this one the longest paths, 30 steps, have length
/// 4.5, three quarters of a period of a standard normal.
constexpr double small_step = 0.15;

std::string preparation_name(CaseName name) { return describe(name) + "-preparation"; }

/// The arm that recycles everything as the paper does.
std::size_t everything(const Gains& gains, KernelKind kind) {
  return paper_family(kind) == Family::stride ? gains.arm(Family::stride, 1)
                                              : gains.arm(Family::all, 0);
}

Measured share(const CaseResults& results, const Gains& gains, std::size_t arm, std::size_t of) {
  const std::size_t first = results.test_case.exact ? 1 : 0;
  return gains.share(arm, of, first, statistics);
}

/// States per iteration of an arm; 0 where their number is not its business.
double states_of(const Gains& gains, const Arm& arm) {
  if (arm.family != Family::stride) return static_cast<double>(arm.count);
  // ceil(L / K), on average over lengths L.
  const auto distance = static_cast<double>(arm.count);
  return std::round(gains.leapfrogs() / distance + (distance - 1) / (2 * distance));
}

std::string file_of(const CaseResults& results, KernelKind kind, const std::string& variant = "") {
  return fmt::format("{}-{}{}.csv", describe(results.test_case.name), describe(kind), variant);
}

void write_parameters(const CaseResults& results, const Gains& gains, const fs::path& file) {
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
  const double count = states_of(gains, study.arms[study.paper_arm]);
  // Four digits are more precise than the errors.
  const auto digits = [](double value) { return Cell(fmt::format("{:.4g}", value)); };
  for (std::size_t i = 0; i < results.truth.sd.size(); ++i) {
    std::vector<Cell> row{i + 1, digits(results.truth.sd[i]), count};
    for (const Columns& c : by_statistic) {
      row.insert(row.end(),
                 {digits(c.plain[i]), digits(c.recycled[i]), digits(c.log2[i].value),
                  digits(c.log2[i].error), digits(c.log2_short[i]), digits(c.log2_k[i].value)});
    }
    table.append(std::move(row));
  }
  table.write(file);
}

void write_counts_by_parameter(const CaseResults& results, KernelKind kind,
                               const fs::path& folder) {
  const Gains& gains = results.of(kind);
  std::vector<std::string> columns{"parameter"};
  std::vector<std::vector<Measured>> ratios;
  const std::vector<Arm>& arms = gains.study().arms;
  for (std::size_t a = 0; a < arms.size(); ++a) {
    if (arms[a].family != paper_family(kind)) continue;
    const std::string name = fmt::format("k{:.0f}", states_of(gains, arms[a]));
    if (std::find(columns.begin(), columns.end(), name) != columns.end()) continue;
    columns.push_back(name);
    ratios.push_back(gains.log2_by_parameter(a, Statistic::quantile));
  }
  Table table(columns);
  for (std::size_t i = 0; i < results.truth.sd.size(); ++i) {
    std::vector<Cell> row{i + 1};
    for (const auto& ratio : ratios) row.emplace_back(fmt::format("{:.4g}", ratio[i].value));
    table.append(std::move(row));
  }
  table.write(folder / ("counts-" + file_of(results, kind)));
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
                static_cast<std::size_t>(gains.total().chains), results.size.iterations,
                results.truth.iterations, truth_share(results, kind), gains.seconds(),
                1e6 * gains.seconds() / gains.leapfrogs_in_all(),
                results.test_case.exact ? "exact" : "NUTS, all states recycled"});
}

void append_counts(const CaseResults& results, KernelKind kind, Table& table) {
  const Gains& gains = results.of(kind);
  const std::string name = describe(results.test_case.name);
  const std::vector<Arm>& arms = gains.study().arms;
  for (std::size_t a = 1; a < arms.size(); ++a) {
    const std::vector<Measured> log2 = gains.mean_log2(a);
    const Measured part = share(results, gains, a, everything(gains, kind));
    for (std::size_t s = 0; s < statistics; ++s) {
      table.append({name, describe(kind), describe(arms[a].family), states_of(gains, arms[a]),
                    statistic_names[s], log2[s].value, log2[s].error, "nan", "nan"});
    }
    table.append({name, describe(kind), describe(arms[a].family), states_of(gains, arms[a]), "all",
                  "nan", "nan", part.value, part.error});
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
      table.append({describe(results.test_case.name), describe(kind),
                    results.size.iterations / length_divisors[l],
                    quantity == ComponentQuantity::angle ? "angle" : "eigenvalue",
                    component.log2.value, component.log2.error, component.plain,
                    component.recycled});
    }
  }
}

/// The worst mean and the worst variance of the plain chain: effective draws per iteration.
double worst_ess(const Gains& gains, Statistic statistic) {
  const std::vector<double> ess = gains.ess_per_iteration(0, statistic);
  return *std::min_element(ess.begin(), ess.end());
}

void append_sensitivity(const CaseResults& results, const std::string& about, const Gains& gains,
                        Table& table) {
  const auto log2 = gains.mean_log2(gains.study().paper_arm);
  std::vector<Cell> row{describe(results.test_case.name), about, gains.leapfrogs(),
                        gains.acceptance()};
  for (const Measured& each : log2) row.insert(row.end(), {each.value, each.error});
  for (const auto statistic : {Statistic::mean, Statistic::variance}) {
    row.emplace_back(worst_ess(gains, statistic));
  }
  table.append(std::move(row));
}

/// The study of the case, then its variants.
void write_sensitivity(const CaseResults& results, Table& table, const fs::path& folder) {
  if (results.has(KernelKind::hmc)) {
    append_sensitivity(results, "as studied", results.of(KernelKind::hmc), table);
  }
  for (const auto& variant : results.variants) {
    const Gains gains(variant->study);
    append_sensitivity(results, variant->about, gains, table);
    if (variant->name == small_steps_variant) {
      write_parameters(results, gains, folder / file_of(results, KernelKind::hmc, variant->name));
    }
  }
}

}  // namespace

bool CaseResults::has(KernelKind kind) const { return gains.at(place_of(kind)).has_value(); }

const Gains& CaseResults::of(KernelKind kind) const {
  if (!has(kind)) throw std::logic_error("a study that was not run");
  return *gains[place_of(kind)];
}

bool CaseResults::is_complete() const {
  const bool kernels =
      std::all_of(gains.begin(), gains.end(), [](const auto& each) { return each.has_value(); });
  return kernels && variants.size() == variant_names(test_case.name).size();
}

const VariantResults* CaseResults::variant(const std::string& name) const {
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const auto& variant) { return variant->name == name; });
  return found == variants.end() ? nullptr : found->get();
}

std::vector<std::pair<std::string, std::string>> variant_names(CaseName name) {
  switch (name) {
    case CaseName::gaussian:
      return {{"-251", "251 steps, the paper's mean"},
              {periodic_variant, "lengths within [0.9, 1.1] of a quarter turn"}};
    case CaseName::logistic:
      return {{"-9", "9 steps, the paper's mean"},
              {"-norm", "the greatest jump by its norm, as printed"}};
    case CaseName::volatility:
      return {{"-90", "90 steps, the paper's mean"},
              {"-norm", "the greatest jump by its norm, as printed"}};
    default:
      return {{small_steps_variant, fmt::format("steps of {}", small_step)}};
  }
}

namespace {

std::vector<HmcVariant> variants_of(const Foundation& base) {
  std::vector<HmcVariant> variants;
  const double step = step_size(base.preparation, KernelKind::hmc);
  for (const auto& [name, about] : variant_names(base.test_case.name)) {
    HmcVariant& variant =
        variants.emplace_back(HmcVariant{name, about, base.test_case, base.preparation});
    double& length = variant.preparation.path_length;
    if (name == small_steps_variant) {
      variant.preparation.step_sizes[place_of(KernelKind::hmc)] = small_step;
    } else if (name == periodic_variant) {
      variant.test_case.path_rule = PathRule::near_quarter;
    } else if (name == "-251") {
      length = 251 * step / 0.75;  // the mean of the factors in [1/2, 1]
    } else if (name == "-norm") {
      length = static_cast<double>(base.preparation.jumps.best_steps()) * step;
    } else {
      length = (name == "-9" ? 9 : 90) * step;
    }
  }
  return variants;
}

}  // namespace

Foundation lay_foundation(const Workshop& workshop, CaseName name) {
  TestCase test_case = make_test_case(name, workshop.data_folder, cox_grid_of(workshop.scale));
  Preparation preparation =
      workshop.load_or_make(preparation_name(name), [&] { return prepare(workshop, test_case); });
  Truth truth = find_truth(workshop, test_case, preparation);
  return {std::move(test_case), std::move(preparation), std::move(truth)};
}

std::vector<StudyPart> studies_of(CaseName name) {
  std::vector<StudyPart> parts;
  const auto add = [&](KernelKind kind, const std::string& variant) {
    parts.push_back({kind, variant, study_name(name, kind, variant)});
  };
  for (const KernelKind kind : all_kernels) add(kind, "");
  for (const auto& [variant, about] : variant_names(name)) add(KernelKind::hmc, variant);
  return parts;
}

bool is_wanted(const WantedParts& wanted, CaseName name, const StudyPart& part) {
  return wanted.contains(describe(name)) || wanted.contains(part.name);
}

namespace {

/// All its pieces are there.
bool is_stored(const Workshop& workshop, CaseName name, const StudyPart& part) {
  const std::size_t groups = size_of_study(workshop.scale, name, part.kind, part.variant).groups;
  for (std::size_t g = 0; g < groups; ++g) {
    if (!workshop.holds(fmt::format("{}-{}", part.name, g))) return false;
  }
  return workshop.holds(preparation_name(name));
}

}  // namespace

std::unique_ptr<CaseResults> run_case(const Workshop& workshop, CaseName name,
                                      const WantedParts& wanted) {
  std::vector<StudyPart> parts = studies_of(name);
  std::erase_if(parts, [&](const StudyPart& part) {
    return !is_wanted(wanted, name, part) && !is_stored(workshop, name, part);
  });
  if (parts.empty()) return nullptr;
  auto results = std::make_unique<CaseResults>(
      CaseResults{lay_foundation(workshop, name), size_of(workshop.scale, name), {}, {}, {}});
  results->gains.resize(std::size(all_kernels));
  std::vector<HmcVariant> variants = variants_of(*results);
  for (const auto& [kind, variant, part_name] : parts) {
    if (variant.empty()) {
      // Gains point at their study, which does not move from here on.
      Study& study = results->studies[place_of(kind)];
      study = run_study(workshop, {results->test_case, results->preparation, results->truth, kind});
      results->gains[place_of(kind)].emplace(study);
      continue;
    }
    HmcVariant& other = *std::find_if(variants.begin(), variants.end(),
                                      [&](const HmcVariant& one) { return one.name == variant; });
    Study study =
        run_study(workshop, {other.test_case, other.preparation, results->truth, kind, other.name});
    results->variants.push_back(
        std::make_unique<VariantResults>(VariantResults{std::move(other), std::move(study)}));
  }
  return results;
}

std::vector<CountShare> count_shares(const CaseResults& results, KernelKind kind) {
  const Gains& gains = results.of(kind);
  const std::vector<Arm>& arms = gains.study().arms;
  std::vector<CountShare> shares;
  for (std::size_t a = 0; a < arms.size(); ++a) {
    if (arms[a].family != paper_family(kind)) continue;
    shares.push_back(
        {a, states_of(gains, arms[a]), share(results, gains, a, everything(gains, kind))});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const CountShare& a, const CountShare& b) { return a.states > b.states; });
  return shares;
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
  Table components({"case", "kernel", "iterations", "quantity", "log2", "log2_error", "plain_rmse",
                    "recycled_rmse"});
  Table sensitivity({"case", "paths", "leapfrogs", "acceptance", "mean_log2", "mean_log2_error",
                     "variance_log2", "variance_log2_error", "q97.5_log2", "q97.5_log2_error",
                     "worst_mean_ess", "worst_variance_ess"});
  std::set<std::string> run;
  std::set<std::string> complete;
  for (const auto& results : cases) {
    const std::string name = describe(results->test_case.name);
    run.insert(name);
    if (results->is_complete()) complete.insert(name);
    if (!results->test_case.notice.empty()) notice.append({name, results->test_case.notice});
    for (const KernelKind kind : all_kernels) {
      if (!results->has(kind)) continue;
      write_parameters(*results, results->of(kind), folder / file_of(*results, kind));
      write_counts_by_parameter(*results, kind, folder);
      append_settings(*results, kind, settings);
      append_counts(*results, kind, counts);
      append_lengths(*results, kind, lengths);
      append_components(*results, kind, components);
    }
    write_sensitivity(*results, sensitivity, folder);
  }
  const auto write = [&](Table& table, const std::string& file,
                         const std::vector<std::string>& keys, const auto& replaced) {
    table.keep_others(folder / file, keys, [&](const Table& old, std::size_t row) {
      return replaced.contains(old.text(row, "case"));
    });
    table.write(folder / file);
  };
  write(settings, "settings.csv", {"case", "kernel"}, complete);
  write(notice, "notice.csv", {"case"}, run);
  write(counts, "counts.csv", {"case", "kernel"}, complete);
  write(lengths, "lengths.csv", {"case", "kernel"}, complete);
  write(components, "components.csv", {"case", "kernel"}, complete);
  write(sensitivity, "sensitivity.csv", {"case", "paths"}, complete);
}

}  // namespace rehmc::experiments
