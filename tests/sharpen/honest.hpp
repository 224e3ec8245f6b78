// Checks that errors match their error bars, for tests with many replicates.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "rehmc/core/numerics.hpp"

namespace rehmc::testing {

/// Errors of one summary over many independent runs, with their error bars.
class Honesty {
 public:
  /// `of_truth`: the error of the reference values, the same in all runs.
  void add(double error, double mcse, double of_truth = 0) {
    errors_.push_back(error);
    squares_.push_back(error * error / (mcse * mcse + of_truth * of_truth));
    of_truth_ = of_truth;
  }
  /// Mean of (error / MCSE)^2.
  double mean_square() const { return mean(squares_); }
  /// The mean error in standard errors.
  double bias() const {
    double variance = 0;
    for (const double error : errors_)
      variance += (error - mean(errors_)) * (error - mean(errors_));
    const auto n = static_cast<double>(errors_.size());
    return mean(errors_) / std::sqrt(variance / (n - 1) / n + of_truth_ * of_truth_);
  }

  /// What is wrong, if anything: an error bar must be right to 15%, so (error / MCSE)^2 has a mean
  /// between 1/1.15^2 and 1.15^2, and n times it a chi-square law (Wilson & Hilferty 1931); and the
  /// mean error must be 0. Each of the three fails by chance with this probability. With
  /// `only_above`, error bars may be too large: they bound rounding errors, whose mean need not be
  /// 0.
  std::string complaint(double false_alarm_rate, bool only_above = false) const {
    const double score = -normal_quantile(false_alarm_rate);
    if (!(mean_square() <= leeway * chi_square(score))) {
      return fmt::format("error bars too small: (error/MCSE)^2 has the mean {:.2f}", mean_square());
    }
    if (!only_above && !(mean_square() >= chi_square(-score) / leeway)) {
      return fmt::format("error bars too large: (error/MCSE)^2 has the mean {:.2f}", mean_square());
    }
    if (!only_above && !(std::abs(bias()) <= -normal_quantile(false_alarm_rate / 2))) {
      return fmt::format("biased: the mean error is {:.1f} standard errors from 0", bias());
    }
    return {};
  }

  /// Whether these runs are so close to honest that a complaint would hardly follow from more of
  /// them. A test may then stop: it fails no more often, and keeps its power, because its final
  /// limits are much wider. With 200 runs of 400, at the rate of 5e-7, error bars too small by
  /// 1.30, 1.36 or 1.50 fail with the probability 0.12, 0.50 or 0.997 either way; too large by
  /// 1.33, 1.38 or 1.54 with 0.12, 0.43 or 0.997 instead of 0.14, 0.48 or 0.999; a bias of 0.25,
  /// 0.30 or 0.40 sds with 0.43, 0.76 or 0.99 instead of 0.49, 0.83 or 0.998 (20,000 simulations).
  /// Honest error bars are not settled with the probability 0.004.
  bool settled(bool only_above = false) const {
    const bool above = mean_square() <= leeway;
    if (only_above) return above;
    return above && mean_square() >= chi_square(-3) / leeway && std::abs(bias()) <= 3.2;
  }

 private:
  static constexpr double leeway = 1.15 * 1.15;

  /// A quantile of the law of the mean square of honest errors.
  double chi_square(double score) const {
    const auto n = static_cast<double>(squares_.size());
    return std::pow(1 - 2 / (9 * n) + score * std::sqrt(2 / (9 * n)), 3);
  }
  static double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }

  std::vector<double> errors_;
  std::vector<double> squares_;
  double of_truth_ = 0;
};

}  // namespace rehmc::testing
