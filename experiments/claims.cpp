// What the paper claims, and how the measurements are compared with it.
#include "experiments/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "experiments/csv.hpp"

namespace rehmc::experiments {

namespace fs = std::filesystem;

namespace {

/// A comparison is decided if it holds this many standard errors away: wrong in about one of 200.
constexpr double certainty = 2.6;

double percent(double log2) { return 100 * (std::exp2(log2) - 1); }
/// Half the range of a percentage over one standard error on either side.
double percent_error(const Measured& log2) {
  return (percent(log2.value + log2.error) - percent(log2.value - log2.error)) / 2;
}
std::string percent_text(const Measured& log2) {
  return fmt::format("{:+.0f}%", percent(log2.value));
}
std::string percent_error_text(const Measured& log2) {
  return fmt::format("{:.1f}%", percent_error(log2));
}

/// Whether a value lies within [least, most].
Agreement within(const Measured& measured, double least, double most) {
  const double slack = certainty * measured.error;
  if (measured.value - slack >= least && measured.value + slack <= most) return Agreement::agrees;
  if (measured.value + slack < least || measured.value - slack > most) return Agreement::differs;
  return Agreement::unclear;
}
Agreement above(const Measured& measured, double least) {
  return within(measured, least, HUGE_VAL);
}
Agreement below(const Measured& measured, double most) { return within(measured, -HUGE_VAL, most); }

/// All must agree; one that differs decides.
Agreement all_of(std::initializer_list<Agreement> agreements) {
  Agreement result = Agreement::agrees;
  for (const Agreement agreement : agreements) {
    if (agreement == Agreement::differs) return agreement;
    if (agreement == Agreement::unclear) result = agreement;
  }
  return result;
}

/// Lengths and numbers that agree within this factor are the same, given that the paper rounds them
/// and does not report the step size.
constexpr double same_within = 1.35;
bool within_factor(double value, double expected, double factor) {
  return value > expected / factor && value < expected * factor;
}

constexpr double enough = 0.95;  ///< of the ESS of recycling everything

/// How the paper chooses some of the states.
std::string ways_of(KernelKind kind) {
  return paper_family(kind) == Family::stride
             ? "evenly spaced steps back from the end, each accepted or rejected"
             : "the final state and others evenly spread";
}

std::string title_of(KernelKind kind) {
  return traits(kind).shape == TrajectoryShape::path ? "HMC" : "NUTS";
}

/// Claims about one test case.
class CaseClaims {
 public:
  CaseClaims(const CaseResults& results, std::vector<Claim>& claims)
      : results_(results), section_(describe(results.test_case.name)), claims_(claims) {}

  /// Gains of variances and quantiles, with the number of states of the paper.
  void gains(KernelKind kind, double least_percent, double most_percent, const std::string& paper) {
    if (!has({kind})) return;
    const Gains& gains = results_.of(kind);
    const auto log2 = gains.mean_log2(gains.study().paper_arm);
    const double least = std::log2(1 + least_percent / 100);
    const double most = std::log2(1 + most_percent / 100);
    Agreement agreement = all_of({within(log2[1], least, most), within(log2[2], least, most)});
    const Measured both{(log2[1].value + log2[2].value) / 2,
                        std::max(log2[1].error, log2[2].error)};
    const bool range = !std::isinf(most);
    if (range && agreement == Agreement::differs &&
        within(both, least, most) == Agreement::agrees) {
      agreement = Agreement::in_part;
    }
    add(fmt::format("gain-{}", describe(kind)),
        fmt::format("{}: variances and quantiles gain in effective sample size", title_of(kind)),
        paper,
        fmt::format("variance {}, quantile {}", percent_text(log2[1]), percent_text(log2[2])),
        fmt::format("{}, {}", percent_error_text(log2[1]), percent_error_text(log2[2])), agreement,
        range ? fmt::format("judged as: both between {:+.0f}% and {:+.0f}%; in part if only their "
                            "average is",
                            least_percent, most_percent)
              : fmt::format("judged as: more than {:+.0f}%", least_percent));
  }

  /// No variance and no quantile loses.
  void uniform(KernelKind kind) {
    if (!has({kind})) return;
    const Gains& gains = results_.of(kind);
    const std::size_t arm = gains.study().paper_arm;
    const auto variance = gains.signs(arm, Statistic::variance, certainty);
    const auto quantile = gains.signs(arm, Statistic::quantile, certainty);
    const double losers = std::max(variance.below, quantile.below);
    add(fmt::format("uniform-{}", describe(kind)),
        fmt::format("{}: every variance and quantile gains", title_of(kind)), "uniformly",
        fmt::format("significant gain for {:.1f}% of variances and {:.1f}% of quantiles; "
                    "significant loss for {:.1f}% and {:.1f}%",
                    100 * variance.above, 100 * quantile.above, 100 * variance.below,
                    100 * quantile.below),
        "", losers <= 0.02 ? Agreement::agrees : Agreement::differs,
        fmt::format("significant: {} standard errors; by chance alone 0.5% would lose", certainty));
  }

  void worst_means(KernelKind kind) {
    if (!has({kind})) return;
    const Gains& gains = results_.of(kind);
    const Measured worst = gains.worst_mixing(gains.study().paper_arm, Statistic::mean);
    const auto signs = gains.signs(gains.study().paper_arm, Statistic::mean, certainty);
    add(fmt::format("worst-means-{}", describe(kind)),
        fmt::format("{}: not all means gain, but those that mix worst do", title_of(kind)),
        "significantly improved",
        fmt::format("worst tenth {}; {:.0f}% of all means lose", percent_text(worst),
                    100 * signs.below),
        percent_error_text(worst), above(worst, 0), "");
  }

  void lengths(double hmc, double nuts, const std::string& remark = "") {
    if (!has({KernelKind::hmc, KernelKind::nuts_slice})) return;
    const double path = results_.of(KernelKind::hmc).leapfrogs();
    const double tree = results_.of(KernelKind::nuts_slice).leapfrogs();
    const bool path_fits = within_factor(path, hmc, same_within);
    const bool tree_fits = within_factor(tree, nuts, same_within);
    // A tree is doubled, so a slightly other step size may double it.
    const bool tree_nearly = within_factor(tree, nuts, 2);
    add("steps", "Steps of a path of HMC and of a tree of NUTS, on average",
        fmt::format("{} and {}", hmc, nuts), fmt::format("{:.1f} and {:.1f}", path, tree), "",
        path_fits && tree_fits     ? Agreement::agrees
        : path_fits && tree_nearly ? Agreement::in_part
                                   : Agreement::differs,
        fmt::format("judged as: within 35%; in part if trees are within a factor of two{}{}",
                    remark.empty() ? "" : "; ", remark));
  }

  /// The paper halves the number of states as long as 95% of the effective sample size remain.
  void sufficient(KernelKind kind, double paper, const std::string& of) {
    if (!has({kind})) return;
    const std::vector<CountShare> shares = count_shares(results_, kind);
    const CountShare* fewest = nullptr;
    const CountShare* papers = nullptr;
    Agreement agreement = Agreement::differs;
    for (const CountShare& each : shares) {
      if (each.share.value >= enough) fewest = &each;
      if (each.arm == results_.of(kind).study().paper_arm) papers = &each;
      // The final state is one of them. One halving is the resolution of the paper's search.
      if (each.states > 2.3 * (paper + 1)) continue;
      const bool few = each.states <= 1.15 * (paper + 1);
      const Agreement enough_here = above(each.share, enough);
      if (enough_here == Agreement::agrees) {
        if (few)
          agreement = Agreement::agrees;
        else if (agreement != Agreement::agrees)
          agreement = Agreement::in_part;
      } else if (enough_here == Agreement::unclear && agreement == Agreement::differs) {
        agreement = Agreement::unclear;
      }
    }
    add(fmt::format("sufficient-{}", describe(kind)),
        fmt::format("{}: so many recycled states are within 5% of all", title_of(kind)),
        fmt::format("{} of {}", paper, of),
        fewest == nullptr
            ? "more than all that were tried"
            : fmt::format("{:.0f} of {:.0f}", fewest->states - 1, results_.of(kind).leapfrogs()),
        "", agreement,
        fmt::format(
            "judged as: the paper's number reaches 95%, or fewer do; in part if it takes one "
            "doubling more; {}; {:.0f} give {:.1f}% (+- {:.1f}%)",
            ways_of(kind), papers->states - 1, 100 * papers->share.value,
            100 * papers->share.error));
  }

  /// The paper recycled every state here: by its criterion, half of them are not within 5%.
  void all_needed(KernelKind kind, int steps) {
    if (!has({kind})) return;
    const std::vector<CountShare> shares = count_shares(results_, kind);
    const CountShare& half = shares.at(1);
    add(fmt::format("sufficient-{}", describe(kind)),
        fmt::format("{}: all steps are recycled: half of them are not within 5%", title_of(kind)),
        fmt::format("all of {}", steps),
        fmt::format("{:.0f} states per iteration give {:.1f}%", half.states,
                    100 * half.share.value),
        fmt::format("{:.1f}%", 100 * half.share.error), below(half.share, enough), ways_of(kind));
  }

  void means(KernelKind kind, bool lose, const std::string& paper, const std::string& remark) {
    if (!has({kind})) return;
    const Gains& gains = results_.of(kind);
    const Measured mean = gains.mean_log2(gains.study().paper_arm)[0];
    add(fmt::format("means-{}", describe(kind)),
        fmt::format("{}: means {}", title_of(kind), lose ? "lose" : "gain"), paper,
        percent_text(mean), percent_error_text(mean), lose ? below(mean, 0) : above(mean, 0),
        remark);
  }

  /// A coordinate of a normal that a path of time t turns by the angle t has, if a share a of paths
  /// is accepted, the autocorrelation 1 - a (1 - E cos t). For uniform t the mean of cos t is
  /// sin(T) / T, at least -0.217: so it is negative only for a > 0.82.
  void small_steps() {
    const VariantResults* small = results_.variant(small_steps_variant);
    if (small == nullptr) return;
    const Gains gains(small->study);
    const Measured mean = gains.mean_log2(gains.study().paper_arm)[0];
    const Measured by_draw = gains.mean_log2(gains.arm(Family::by_draw, 0))[0];
    add("means-small-steps",
        fmt::format("HMC with steps of 0.15, accepted by {:.0f}%: means lose",
                    100 * gains.acceptance()),
        "super-efficiency of plain means: more than one effective draw per iteration",
        fmt::format("{}; plain means have {:.2f} effective draws per iteration", percent_text(mean),
                    average(gains.ess_per_iteration(0, Statistic::mean))),
        percent_error_text(mean), below(mean, 0),
        fmt::format(
            "every state counts alike (Theorem 2); if every draw did: {}. Autocorrelation "
            "1 - a (1 - sin(T)/T) with acceptance a and longest time T is negative only for "
            "a > 0.82; steps are as small in Girolami and Calderhead (2011)",
            percent_text(by_draw)));
  }

  /// Plain means that are better than independent draws.
  void no_super_efficiency(KernelKind kind) {
    if (!has({kind})) return;
    const Gains& gains = results_.of(kind);
    const std::vector<double> ess = gains.ess_per_iteration(0, Statistic::mean);
    const auto above_one =
        std::count_if(ess.begin(), ess.end(), [](double each) { return each > 1; });
    const double share = static_cast<double>(above_one) / static_cast<double>(ess.size());
    add(fmt::format("super-efficiency-{}", describe(kind)),
        fmt::format("{}: no plain mean is super-efficient", title_of(kind)), "not observed",
        fmt::format(
            "{:.0f}% of plain means have more than one effective draw per iteration; {:.2f} "
            "on average",
            100 * share, average(ess)),
        "", share <= 0.05 ? Agreement::agrees : Agreement::differs,
        "judged as: at most 5% above 1, which chance may do");
  }

  /// Some means gain little where variances and quantiles gain.
  void little_gain(KernelKind kind) {
    if (!has({kind})) return;
    const Gains& gains = results_.of(kind);
    const std::size_t arm = gains.study().paper_arm;
    const double little = std::log2(1.2);
    const auto means = gains.log2_by_parameter(arm, Statistic::mean);
    const auto few = std::count_if(means.begin(), means.end(), [&](const Measured& each) {
      return below(each, little) == Agreement::agrees;
    });
    const double share = static_cast<double>(few) / static_cast<double>(means.size());
    const auto log2 = gains.mean_log2(arm);
    add(fmt::format("little-{}", describe(kind)),
        fmt::format("{}: some means gain little, variances and quantiles clearly", title_of(kind)),
        "little gains for some parameters",
        fmt::format("{:.0f}% of means gain less than 20%; variances {}, quantiles {}", 100 * share,
                    percent_text(log2[1]), percent_text(log2[2])),
        "",
        all_of({share > 0 ? Agreement::agrees : Agreement::differs, above(log2[1], little),
                above(log2[2], little)}),
        fmt::format("a mean counts if it is below by {} standard errors", certainty));
  }

  /// The first attempt at the path lengths of the Gaussian.
  void periodicity() {
    const VariantResults* periodic = results_.variant(periodic_variant);
    if (periodic == nullptr || !has({KernelKind::hmc})) return;
    const Gains gains(periodic->study);
    const Gains& wide = results_.of(KernelKind::hmc);
    double worst = HUGE_VAL;
    std::string measured;
    for (const auto statistic : {Statistic::mean, Statistic::variance}) {
      const double narrow = least(gains.ess_per_iteration(0, statistic));
      const double other = least(wide.ess_per_iteration(0, statistic));
      worst = std::min(worst, narrow / other);
      measured += fmt::format("{}worst {} {:.3f} against {:.3f}", measured.empty() ? "" : ", ",
                              statistic_names[static_cast<std::size_t>(statistic)], narrow, other);
    }
    add("periodicity",
        "HMC: paths within [0.9, 1.1] of a quarter turn mix poorly for some parameters",
        "near perfect periodicity and hence poor mixing for some parameters",
        measured + " effective draws per iteration", "",
        worst < 0.5 ? Agreement::agrees : Agreement::differs,
        "judged as: less than half of those of paths within [1/2, 1]");
  }

  /// Evenly spread states are better than random ones, on average over the numbers tried.
  void spread_over_simple() {
    if (!has({KernelKind::nuts_slice})) return;
    const Gains& gains = results_.of(KernelKind::nuts_slice);
    std::string measured;
    std::string errors;
    std::vector<Agreement> agreements;
    for (const std::size_t count : {2, 4, 8}) {
      const Measured log2 = gains.log2_over(gains.arm(Family::spread, count),
                                            gains.arm(Family::simple, count), Statistic::quantile);
      agreements.push_back(above(log2, 0));
      measured +=
          fmt::format("{}{} with {}", measured.empty() ? "" : ", ", percent_text(log2), count);
      errors += fmt::format("{}{}", errors.empty() ? "" : ", ", percent_error_text(log2));
    }
    add("spread", "NUTS: evenly spread states are more efficient than as many at random",
        "actually more statistically efficient", measured, errors,
        all_of({agreements[0], agreements[1], agreements[2]}),
        "effective sample size of the quantile");
  }

  /// The share of the quantile's effective sample size that two states per iteration keep.
  void fading() {
    if (!has({KernelKind::hmc, KernelKind::nuts_slice})) return;
    const auto share_of_two = [&](KernelKind kind) {
      const Gains& gains = results_.of(kind);
      const std::vector<CountShare> shares = count_shares(results_, kind);
      // The last with two states or more.
      auto two = shares.rbegin();
      while (two + 1 != shares.rend() && two->states < 1.5) ++two;
      return gains.share(two->arm, shares.front().arm, 2, 3);
    };
    const Measured hmc = share_of_two(KernelKind::hmc);
    const Measured nuts = share_of_two(KernelKind::nuts_slice);
    const Measured difference{nuts.value - hmc.value, std::hypot(hmc.error, nuts.error)};
    add("fading", "Gains of HMC diminish earlier than those of NUTS as fewer states are recycled",
        "much earlier",
        fmt::format("two states keep {:.0f}% of the quantile's effective sample size under HMC, "
                    "{:.0f}% under NUTS",
                    100 * hmc.value, 100 * nuts.value),
        fmt::format("{:.1f}%, {:.1f}%", 100 * hmc.error, 100 * nuts.error), above(difference, 0),
        "judged as: a smaller share under HMC; of what the most states that were tried have");
  }

  void one_recycled() {
    if (!has({KernelKind::nuts_slice})) return;
    const Gains& gains = results_.of(KernelKind::nuts_slice);
    const Measured log2 = gains.mean_log2(gains.arm(Family::final_state, 2))[2];
    const Measured spread = gains.mean_log2(gains.arm(Family::spread, 2))[2];
    // The other state and, nearly, the final one are draws from the trajectory, whose mean is that
    // of all its states: two have half of what one adds to the variance of that.
    const double all = gains.mean_log2(gains.arm(Family::all, 0))[2].value;
    const double half_way = 1 - std::log2(1 + std::exp2(-all));
    add("one-recycled", "NUTS: gain in the quantile with a single recycled state", "over 40%",
        percent_text(log2), percent_error_text(log2), above(log2, std::log2(1.4)),
        fmt::format("two evenly spread states instead of the final one and another: {}. Half way "
                    "between the variances of the plain chain and of all states ({}) lies {}",
                    percent_text(spread), percent_text({all, 0}), percent_text({half_way, 0})));
  }

  /// Found by taking log(1 + S) out of positions and squares (results/README.md).
  static constexpr const char* slow_roughness =
      ". The roughness of the path, on which all coordinates depend, takes hundreds of iterations "
      "to mix and gains next to nothing; its share of the error grows until chains are longer "
      "than that";

  void independent_of_length(KernelKind kind) {
    if (!has({kind})) return;
    const Gains& gains = results_.of(kind);
    const auto longest = gains.mean_log2_at(length_divisors.size() - 1, 1);
    const auto shortest = gains.mean_log2_at(0, 1);
    Agreement agreement = Agreement::agrees;
    std::string measured;
    std::string errors;
    constexpr double tolerance = 0.35;
    for (const std::size_t s : {0, 1}) {
      const Measured difference{shortest[s].value - longest[s].value,
                                std::hypot(shortest[s].error, longest[s].error)};
      agreement = all_of({agreement, within(difference, -tolerance, tolerance)});
      measured += fmt::format("{}{} {:.2f} against {:.2f}", s == 0 ? "" : ", ", statistic_names[s],
                              shortest[s].value, longest[s].value);
      errors += fmt::format("{}{:.2f}", s == 0 ? "" : ", ", difference.error);
    }
    add(fmt::format("length-{}", describe(kind)),
        fmt::format("{}: gains (log2) at 1/32 of the chain's length and at all of it",
                    title_of(kind)),
        "independent of the length", measured, errors, agreement,
        fmt::format("judged as: within {} in log2; all states recycled{}", tolerance,
                    results_.test_case.name == CaseName::volatility ? slow_roughness : ""));
  }

  /// What recycling gains (log2) for the variance of the last coordinate, which varies most.
  static double variance_of_last(const Gains& gains) {
    return gains.log2_by_parameter(gains.study().paper_arm, Statistic::variance).back().value;
  }

  void leading_component() {
    if (!has({KernelKind::hmc, KernelKind::nuts_slice})) return;
    const Gains& gains = results_.of(KernelKind::hmc);
    const Gains& nuts = results_.of(KernelKind::nuts_slice);
    const std::size_t last = length_divisors.size() - 1;
    const auto whole = gains.component(last, ComponentQuantity::angle);
    const auto early = gains.component(1, ComponentQuantity::angle);
    const std::size_t iterations = results_.size.iterations / length_divisors[1];
    constexpr double hard = 0.3;  // radians
    add("component-short",
        fmt::format("HMC: the direction of the leading component after {} iterations", iterations),
        "cannot be well estimated (about 200 iterations)",
        fmt::format("angle {:.2f} rad recycled, {:.2f} plain", early.recycled, early.plain), "",
        early.recycled > hard ? Agreement::agrees : Agreement::differs,
        fmt::format("judged as: root mean square angle above {} rad", hard));
    const Measured growth{whole.log2.value - early.log2.value,
                          std::hypot(whole.log2.error, early.log2.error)};
    add("component-long",
        fmt::format("HMC: its gain (log2) after {} iterations, and after {}", iterations,
                    results_.size.iterations),
        "substantial advantage as chains are run longer",
        fmt::format("{:.2f}, {:.2f}", early.log2.value, whole.log2.value),
        fmt::format("{:.2f}, {:.2f}", early.log2.error, whole.log2.error),
        all_of({above(whole.log2, 0.3), above(growth, 0)}),
        fmt::format(
            "judged as: above 0.3 in the end, and more than at first. NUTS (slice): {:.2f}, "
            "{:.2f}. The variance of that component itself gains {:.2f} under HMC, {:.2f} under "
            "NUTS",
            nuts.component(1, ComponentQuantity::angle).log2.value,
            nuts.component(last, ComponentQuantity::angle).log2.value, variance_of_last(gains),
            variance_of_last(nuts)));
  }

 private:
  bool has(std::initializer_list<KernelKind> kinds) const {
    return std::all_of(kinds.begin(), kinds.end(),
                       [&](KernelKind kind) { return results_.has(kind); });
  }
  static double average(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  static double least(const std::vector<double>& values) {
    return *std::min_element(values.begin(), values.end());
  }

  void add(const std::string& id, std::string claim, std::string paper, std::string measured,
           std::string error, Agreement agreement, std::string remark) {
    if (const std::string why = too_small_for(id); !why.empty()) {
      agreement = Agreement::unclear;
      remark = fmt::format("not settled at this size: {}; {}", why, remark);
    }
    claims_.push_back({section_ + "-" + id, section_, std::move(claim), std::move(paper),
                       std::move(measured), std::move(error), agreement, std::move(remark)});
  }

  /// Why the run is too small to judge a claim, or nothing. Quantiles, numbers of states and gains
  /// against the length of the chain need chains about as long as the paper's; means and the number
  /// of steps do not.
  std::string too_small_for(const std::string& id) const {
    const Size full = size_of(Scale::full, results_.test_case.name);
    if (results_.test_case.name == CaseName::cox && id != "steps" &&
        results_.truth.sd.size() < paper_cells) {
      return fmt::format("{} cells instead of {}", results_.truth.sd.size(), paper_cells);
    }
    const bool measured_length = results_.test_case.path_rule == PathRule::greatest_jump;
    if (id == "steps" && measured_length && !results_.test_case.notice.empty()) {
      return "not the paper's data";
    }
    const bool of_means = id.find("means") != std::string::npos || id == "periodicity";
    if (id != "steps" && !of_means && 16 * results_.size.iterations <= full.iterations) {
      return fmt::format("chains of {} iterations, the paper's have {}", results_.size.iterations,
                         full.iterations);
    }
    return "";
  }
  static constexpr std::size_t paper_cells = std::size_t{64} * 64;

  const CaseResults& results_;
  std::string section_;
  std::vector<Claim>& claims_;
};

void judge_gaussian(const CaseResults& results, std::vector<Claim>& claims) {
  CaseClaims judge(results, claims);
  // "About": within a factor of 1.15 of twice the effective sample size.
  judge.gains(KernelKind::hmc, 74, 130, "about +100% on average");
  judge.uniform(KernelKind::hmc);
  judge.worst_means(KernelKind::hmc);
  judge.gains(KernelKind::nuts_slice, 60, HUGE_VAL, "as for HMC (figure)");
  judge.lengths(251, 512);
  judge.sufficient(KernelKind::hmc, 31, "251");
  judge.sufficient(KernelKind::nuts_slice, 15, "512");
  judge.periodicity();
  judge.leading_component();
}

/// The two cases whose path length maximises the jump; numbers are the paper's. Where it recycled
/// all steps of HMC, there is no number.
void judge_by_jump(const CaseResults& results, std::vector<Claim>& claims, int path, int tree,
                   std::optional<std::size_t> recycled_hmc) {
  CaseClaims judge(results, claims);
  judge.gains(KernelKind::hmc, 20, HUGE_VAL, "better (figure)");
  judge.gains(KernelKind::nuts_slice, 20, HUGE_VAL, "better (figure)");
  const JumpCurve& jumps = results.preparation.jumps;
  judge.lengths(path, tree,
                fmt::format("the jump is greatest after {} steps, its square after {}; the square "
                            "was taken",
                            jumps.best_steps(), jumps.best_steps_by_square()));
  if (recycled_hmc) {
    judge.sufficient(KernelKind::hmc, static_cast<double>(*recycled_hmc), fmt::to_string(path));
  } else {
    judge.all_needed(KernelKind::hmc, path);
  }
  judge.sufficient(KernelKind::nuts_slice, 7, fmt::to_string(tree));
  if (results.test_case.name == CaseName::logistic) {
    judge.little_gain(KernelKind::hmc);
    judge.little_gain(KernelKind::nuts_slice);
  }
}

void judge_cox(const CaseResults& results, std::vector<Claim>& claims) {
  CaseClaims judge(results, claims);
  judge.means(KernelKind::hmc, true, "worse for the majority (super-efficiency)",
              "Riemannian HMC with its constant metric. With uniformly drawn lengths and 70% "
              "acceptance means cannot be super-efficient: see the next claim");
  judge.small_steps();
  judge.gains(KernelKind::hmc, 20, HUGE_VAL, "uniformly and significantly better");
  judge.uniform(KernelKind::hmc);
  judge.means(KernelKind::nuts_slice, false, "better", "");
  judge.no_super_efficiency(KernelKind::nuts_slice);
  judge.gains(KernelKind::nuts_slice, 20, HUGE_VAL, "better");
  judge.lengths(15.5, 16);
  judge.sufficient(KernelKind::hmc, 15, "15.5");
  judge.sufficient(KernelKind::nuts_slice, 7, "16");
}

void judge_tuning(const fs::path& folder, std::vector<Claim>& claims) {
  if (!fs::exists(folder / "tuning.csv")) return;
  const Table table = Table::read(folder / "tuning.csv");
  struct Row {
    std::map<std::string, Measured> log2;
  };
  std::map<std::pair<std::string, int>, Row> rows;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    rows[{table.text(r, "case"), static_cast<int>(table.number(r, "adapt"))}]
        .log2[table.text(r, "statistic")] = {table.number(r, "log2"),
                                             table.number(r, "log2_error")};
  }
  for (const auto& [key, row] : rows) {
    const auto& [name, adapt] = key;
    const bool gains = name == "gaussian" ? adapt < 800 : adapt <= 1000;
    std::string measured;
    std::string errors;
    Agreement agreement = Agreement::agrees;
    for (const char* statistic : statistic_names) {
      const Measured log2 = row.log2.at(statistic);
      // No gain: less than a tenth.
      const double small = std::log2(1.1);
      agreement = all_of({agreement, gains ? above(log2, 0) : within(log2, -small, small)});
      measured +=
          fmt::format("{}{} {}", measured.empty() ? "" : ", ", statistic, percent_text(log2));
      errors += fmt::format("{}{}", errors.empty() ? "" : ", ", percent_error_text(log2));
    }
    claims.push_back(
        {fmt::format("{}-tuning-{}", name, adapt), name,
         fmt::format("Mass matrix from {} iterations: gain in ESS of NUTS if tuned with recycling",
                     adapt),
         gains ? "gain" : "none", measured, errors, agreement,
         gains ? "" : "judged as: within 10% of none"});
  }
}

void judge_overhead(const fs::path& folder, std::vector<Claim>& claims) {
  if (!fs::exists(folder / "overhead.csv")) return;
  const Table table = Table::read(folder / "overhead.csv");
  // By the authors' case, in percent.
  const std::map<std::string, double> theirs{
      {"gaussian", 6}, {"logistic", 1}, {"volatility", 6}, {"cox", 6}};
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const std::string& recycling = table.text(r, "recycling");
    const bool papers_way = recycling.starts_with("stride");
    if (!papers_way && !recycling.starts_with("spread")) continue;
    const std::string& name = table.text(r, "case");
    const Measured time{table.number(r, "time_percent"), table.number(r, "time_error")};
    const double bound = theirs.at(name);
    claims.push_back(
        {fmt::format("overhead-{}-{}{}", name, table.text(r, "kernel"),
                     papers_way ? "-stride" : ""),
         uncounted_section,
         fmt::format("{}, {}: extra time for recycling ({}{})", name, table.text(r, "kernel"),
                     recycling, papers_way ? ", the paper's own way" : ""),
         name == "cox"
             ? "1-6% (a commented-out line of its source, MATLAB, other cases)"
             : fmt::format("about {:.0f}% (a commented-out line of its source, MATLAB)", bound),
         fmt::format("{:.2f}%", time.value), fmt::format("{:.2f}%", time.error), below(time, bound),
         "not a claim of the published text, so not counted; ours must be smaller"});
  }
}

}  // namespace

std::string describe(Agreement agreement) {
  switch (agreement) {
    case Agreement::agrees:
      return "agrees";
    case Agreement::in_part:
      return "agrees in part";
    case Agreement::differs:
      return "differs";
    case Agreement::unclear:
      return "not settled";
  }
  return "";
}

std::vector<Claim> judge_claims(const std::vector<std::unique_ptr<CaseResults>>& cases,
                                const fs::path& folder) {
  std::vector<Claim> claims;
  for (const auto& results : cases) {
    switch (results->test_case.name) {
      case CaseName::gaussian:
        judge_gaussian(*results, claims);
        break;
      case CaseName::logistic:
        judge_by_jump(*results, claims, 9, 16, std::nullopt);
        break;
      case CaseName::volatility:
        judge_by_jump(*results, claims, 90, 128, 44);
        break;
      case CaseName::cox:
        judge_cox(*results, claims);
        break;
    }
  }
  judge_tuning(folder, claims);
  for (const auto& results : cases) {
    CaseClaims judge(*results, claims);
    judge.one_recycled();
    judge.spread_over_simple();
    judge.fading();
  }
  for (const auto& results : cases) {
    CaseClaims judge(*results, claims);
    judge.independent_of_length(KernelKind::hmc);
    judge.independent_of_length(KernelKind::nuts_slice);
  }
  judge_overhead(folder, claims);
  return claims;
}

void write_claims(const std::vector<Claim>& claims,
                  const std::vector<std::unique_ptr<CaseResults>>& cases, const fs::path& folder) {
  Table table({"id", "section", "claim", "paper", "measured", "error", "agreement", "remark"});
  for (const Claim& claim : claims) {
    table.append({claim.id, claim.section, claim.claim, claim.paper, claim.measured, claim.error,
                  describe(claim.agreement), claim.remark});
  }
  table.keep_others(folder / "claims.csv", {"id"}, [&](const Table& old, std::size_t row) {
    return std::any_of(cases.begin(), cases.end(), [&](const auto& results) {
      return results->is_complete() &&
             describe(results->test_case.name) == old.text(row, "section");
    });
  });
  table.write(folder / "claims.csv");
}

}  // namespace rehmc::experiments
