// Mean squares, quarters, spreads and coverages, with Monte Carlo errors clustered by run.
#include "calibration_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/chain_table.hpp"
#include "rehmc/estimate/distributions.hpp"

namespace rehmc::bench {

namespace {

// The bars.
constexpr std::array<double, 2> mean_square_bounds{0.85, 1.15};
constexpr std::array<double, 2> quarter_bounds{0.6, 1.5};
constexpr std::array<double, 2> coverage_bounds{0.93, 0.97};
constexpr double most_ratio = 1.5;
/// A parameter with fewer runs is not judged.
constexpr std::size_t fewest_runs = 12;
/// Estimates whose errors are smaller than that, in sds, are right to the rounding of gradients.
constexpr double rounding = 1e-6;
constexpr double outside = 0.05;  ///< probability outside of an interval

/// One estimate of one parameter by one run.
struct Judged {
  std::size_t run = 0;
  double error = 0;
  double mcse = 0;
  double degrees = 0;
  double plain_error = 0;

  double square() const { return error * error / (mcse * mcse); }
};

Judged judge(const Value& value, double truth, bool log_scale) {
  if (!log_scale) return {0, value.value - truth, value.mcse, value.degrees, 0};
  return {0, std::log(value.value / truth), value.mcse / value.value, value.degrees, 0};
}

/// All runs that have this estimate of this parameter, in rising order of their MCSEs.
std::vector<Judged> judged_runs(const std::vector<RunOutcome>& runs, std::size_t parameter,
                                double truth, Kind kind, std::size_t summary) {
  const bool log_scale = summary == 1;
  std::vector<Judged> all;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Outcome& outcome = runs[r].parameters[parameter];
    if (kind == Kind::sharpened && !outcome.sharp) continue;
    Judged one = judge(value_of(outcome, kind, summary), truth, log_scale);
    if (std::isnan(one.error) || std::isnan(one.mcse)) continue;
    one.run = r;
    one.plain_error = judge(outcome.plain[summary], truth, log_scale).error;
    all.push_back(one);
  }
  std::sort(all.begin(), all.end(),
            [](const Judged& a, const Judged& b) { return a.mcse < b.mcse; });
  return all;
}

/// The mean over parameters of the means over their runs of a function. Estimates of one run hang
/// together, so that the error adds what each run contributes to all parameters.
class Pool {
 public:
  Pool(std::size_t runs, std::size_t parameters)
      : contributions_(runs), parameters_(static_cast<double>(parameters)) {}

  template <class Function>
  double add(const std::vector<Judged>& all, std::size_t begin, std::size_t end,
             Function&& function) {
    const auto count = static_cast<double>(end - begin);
    double mean = 0;
    for (std::size_t i = begin; i < end; ++i) mean += function(all[i]) / count;
    for (std::size_t i = begin; i < end; ++i) {
      contributions_[all[i].run] += (function(all[i]) - mean) / (count * parameters_);
    }
    sum_ += mean / parameters_;
    return mean;
  }

  Measured within(const std::array<double, 2>& bounds, double margin) const {
    double squares = 0;
    for (const double contribution : contributions_) squares += contribution * contribution;
    const double error = std::sqrt(squares);
    return {sum_, error, sum_ >= bounds[0] - margin * error && sum_ <= bounds[1] + margin * error};
  }

 private:
  std::vector<double> contributions_;
  double parameters_;
  double sum_ = 0;
};

/// The 90% over the 10% quantile of the MCSEs; and a lower bound of it, from the order statistics,
/// that assumes nothing about their distribution.
struct Ratio {
  double value;
  double lower;
};

Ratio ratio_of(const std::vector<Judged>& all, double margin) {
  std::vector<double> sorted;
  for (const Judged& one : all) sorted.push_back(one.mcse);
  constexpr double low = 0.1;
  const double shift =
      margin / std::sqrt(2.0) * std::sqrt(low * (1 - low) / static_cast<double>(all.size()));
  const double upper = std::max(0.5, 1 - low - shift);
  return {quantile_of_sorted(sorted, 1 - low) / quantile_of_sorted(sorted, low),
          quantile_of_sorted(sorted, upper) / quantile_of_sorted(sorted, 1 - upper)};
}

double score_of(const Judged& one, bool student) {
  return student && std::isfinite(one.degrees) ? two_sided_student_quantile(outside, one.degrees)
                                               : -normal_quantile(outside / 2);
}

bool covers(const Judged& one, bool student) {
  return std::abs(one.error) <= score_of(one, student) * one.mcse;
}

/// Few degrees of freedom excuse MCSEs that scatter if the t intervals cover.
bool excused(const std::vector<Judged>& all, double margin) {
  const auto states_degrees = [](const Judged& one) { return std::isfinite(one.degrees); };
  if (2 * std::count_if(all.begin(), all.end(), states_degrees) < std::ssize(all)) return false;
  std::size_t runs = 0;
  for (const Judged& one : all) runs = std::max(runs, one.run + 1);
  Pool pool(runs, 1);
  pool.add(all, 0, all.size(), [](const Judged& one) { return covers(one, true) ? 1.0 : 0.0; });
  return pool.within(coverage_bounds, margin).holds;
}

bool right_to_rounding(const std::vector<Judged>& all, double unit) {
  return std::all_of(all.begin(), all.end(),
                     [unit](const Judged& one) { return std::abs(one.error) < rounding * unit; });
}

using Sets = std::vector<std::vector<Judged>>;

void judge_squares(Calibration& result, const Sets& sets, std::size_t runs, double margin) {
  const auto square = [](const Judged& one) { return one.square(); };
  Pool all(runs, sets.size());
  result.least_mean_square = std::numeric_limits<double>::infinity();
  for (const auto& set : sets) {
    const double mean = all.add(set, 0, set.size(), square);
    result.least_mean_square = std::min(result.least_mean_square, mean);
    result.most_mean_square = std::max(result.most_mean_square, mean);
  }
  result.mean_square = all.within(mean_square_bounds, margin);
  for (std::size_t k = 0; k < result.quarters.size(); ++k) {
    Pool quarter(runs, sets.size());
    for (const auto& set : sets) {
      quarter.add(set, k * set.size() / 4, (k + 1) * set.size() / 4, square);
    }
    result.quarters[k] = quarter.within(quarter_bounds, margin);
  }
}

void judge_coverage(Calibration& result, const Sets& sets, std::size_t runs, double margin) {
  Pool normal(runs, sets.size());
  Pool student(runs, sets.size());
  for (const auto& set : sets) {
    normal.add(set, 0, set.size(),
               [](const Judged& one) { return covers(one, false) ? 1.0 : 0.0; });
    student.add(set, 0, set.size(),
                [](const Judged& one) { return covers(one, true) ? 1.0 : 0.0; });
  }
  result.coverage = normal.within(coverage_bounds, margin);
  result.t_coverage = student.within(coverage_bounds, margin);
}

/// Whether they are too large is asked of sharpened estimates alone: MCSEs of plain ones scatter by
/// their nature, and those that are shown are of two kinds.
void judge_ratios(Calibration& result, const Sets& sets, Kind kind, double margin) {
  std::vector<double> ratios;
  for (const auto& set : sets) {
    const Ratio ratio = ratio_of(set, margin);
    ratios.push_back(ratio.value);
    if (kind == Kind::sharpened && ratio.lower > most_ratio && !excused(set, margin)) {
      result.ratios_hold = false;
    }
  }
  result.median_ratio = median(ratios);
  result.worst_ratio = *std::max_element(ratios.begin(), ratios.end());
}

void judge_errors(Calibration& result, const Sets& sets) {
  double log_gain = 0;
  result.least_gain = std::numeric_limits<double>::infinity();
  for (const auto& set : sets) {
    double plain = 0;
    double own = 0;
    std::vector<double> errors;
    for (const Judged& one : set) {
      plain += one.plain_error * one.plain_error;
      own += one.error * one.error;
      errors.push_back(one.error);
    }
    log_gain += std::log(plain / own) / static_cast<double>(sets.size());
    result.least_gain = std::min(result.least_gain, plain / own);
    const double error = std::sqrt(variance_of(errors) / static_cast<double>(errors.size()));
    result.worst_bias = std::max(result.worst_bias, std::abs(mean_of(errors)) / error);
  }
  result.gain = std::exp(log_gain);
}

}  // namespace

const char* describe(Kind kind) {
  switch (kind) {
    case Kind::plain:
      return "plain";
    case Kind::recycled:
      return "recycled";
    case Kind::sharpened:
      return "sharpened";
    case Kind::shown:
      break;
  }
  return "shown";
}

double true_value(const ExactValues& truth, std::size_t summary) {
  if (summary == 0) return truth.mean;
  if (summary == 1) return truth.sd;
  return truth.quantiles[summary - 2];
}

const Value& value_of(const Outcome& outcome, Kind kind, std::size_t summary) {
  if (kind == Kind::plain) return outcome.plain[summary];
  if (kind == Kind::recycled) return outcome.recycled[summary];
  return outcome.sharpened[summary];
}

Calibration calibrate(const std::vector<RunOutcome>& runs, const std::vector<ExactValues>& truth,
                      Kind kind, std::size_t summary, const Margin& margin) {
  Calibration result;
  Sets sets;
  for (std::size_t p = 0; p < truth.size(); ++p) {
    std::vector<Judged> set = judged_runs(runs, p, true_value(truth[p], summary), kind, summary);
    result.share +=
        static_cast<double>(set.size()) / static_cast<double>(runs.size() * truth.size());
    if (set.size() < fewest_runs) continue;
    const double unit = summary == 1 ? 1 : truth[p].sd;
    if (right_to_rounding(set, unit)) {
      ++result.exact;
    } else {
      sets.push_back(std::move(set));
    }
  }
  result.parameters = sets.size();
  if (sets.empty()) return result;
  std::size_t fewest = runs.size();
  for (const auto& set : sets) fewest = std::min(fewest, set.size());
  judge_squares(result, sets, runs.size(), margin(fewest));
  judge_coverage(result, sets, runs.size(), margin(fewest));
  judge_ratios(result, sets, kind, margin(fewest));
  judge_errors(result, sets);
  return result;
}

nlohmann::ordered_json as_json(const Calibration& c) {
  const auto json_of = [](const Measured& measured) {
    return nlohmann::ordered_json{
        {"value", measured.value}, {"error", measured.error}, {"holds", measured.holds}};
  };
  nlohmann::ordered_json json{{"parameters", c.parameters}, {"exact", c.exact}, {"share", c.share}};
  if (c.parameters == 0) return json;
  json["mean_square"] = json_of(c.mean_square);
  json["least_mean_square"] = c.least_mean_square;
  json["most_mean_square"] = c.most_mean_square;
  for (const Measured& quarter : c.quarters) json["quarters"].push_back(json_of(quarter));
  json["median_ratio"] = c.median_ratio;
  json["worst_ratio"] = c.worst_ratio;
  json["ratios_hold"] = c.ratios_hold;
  json["coverage"] = json_of(c.coverage);
  json["t_coverage"] = json_of(c.t_coverage);
  json["gain"] = c.gain;
  json["least_gain"] = c.least_gain;
  json["worst_bias"] = c.worst_bias;
  json["holds"] = c.holds();
  return json;
}

bool Calibration::holds() const {
  return mean_square.holds && ratios_hold &&
         std::all_of(quarters.begin(), quarters.end(), [](const Measured& m) { return m.holds; });
}

std::string as_text(const Calibration& c) {
  if (c.parameters == 0) {
    return fmt::format("{:4.0f}%{}", 100 * c.share, c.exact > 0 ? "  right to rounding" : "");
  }
  std::string text = fmt::format("{:4.0f}%  {:5.2f} +- {:4.2f} [{:5.2f}, {:5.2f}]  quarters",
                                 100 * c.share, c.mean_square.value, c.mean_square.error,
                                 c.least_mean_square, c.most_mean_square);
  for (const Measured& quarter : c.quarters) text += fmt::format(" {:5.2f}", quarter.value);
  text += fmt::format(
      "  90/10 {:4.2f}, {:5.2f}  covers {:4.1f}% (t {:4.1f}%)  gain {:8.4g}, {:8.4g}"
      "  bias {:3.1f}",
      c.median_ratio, c.worst_ratio, 100 * c.coverage.value, 100 * c.t_coverage.value, c.gain,
      c.least_gain, c.worst_bias);
  if (!c.mean_square.holds) text += "  MEAN";
  for (std::size_t k = 0; k < c.quarters.size(); ++k) {
    if (!c.quarters[k].holds) text += fmt::format("  Q{}", k + 1);
  }
  if (!c.ratios_hold) text += "  RATIO";
  return text;
}

}  // namespace rehmc::bench
