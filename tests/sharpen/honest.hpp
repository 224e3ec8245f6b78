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
    constexpr double leeway = 1.15 * 1.15;
    const auto n = static_cast<double>(squares_.size());
    const double score = -normal_quantile(false_alarm_rate);
    const auto quantile = [&](double z) {
      return std::pow(1 - 2 / (9 * n) + z * std::sqrt(2 / (9 * n)), 3);
    };
    if (!(mean_square() <= leeway * quantile(score))) {
      return fmt::format("error bars too small: (error/MCSE)^2 has the mean {:.2f}", mean_square());
    }
    if (!only_above && !(mean_square() >= quantile(-score) / leeway)) {
      return fmt::format("error bars too large: (error/MCSE)^2 has the mean {:.2f}", mean_square());
    }
    if (!only_above && !(std::abs(bias()) <= -normal_quantile(false_alarm_rate / 2))) {
      return fmt::format("biased: the mean error is {:.1f} standard errors from 0", bias());
    }
    return {};
  }

 private:
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
