// Checks that draws follow a target: functions of a state with known expectations, and z-scores.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rehmc/core/state.hpp"
#include "rehmc/recycle/features.hpp"

namespace rehmc::testing {

/// Functions of a state whose expectations under the target are known: of every coordinate whether
/// it lies below certain quantiles and, where its tails allow, its mean and square; and x'
/// gradient, whose expectation is -d under every density that vanishes at infinity (Stein's
/// identity with f(x) = x). As features, they are summed over all states of a trajectory.
class Observables final : public Features {
 public:
  static constexpr std::array<double, 5> probabilities{0.05, 0.25, 0.5, 0.75, 0.95};

  /// `with_moments[i]`: whether means and squares of coordinate i are tested.
  template <class Target>
  Observables(const Target& target, const std::vector<bool>& with_moments) {
    for (std::size_t i = 0; i < target.dimension(); ++i) {
      Coordinate& coordinate = coordinates_.emplace_back();
      coordinate.with_moments = with_moments[i];
      const std::string name = fmt::format("x{}", i + 1);
      if (with_moments[i]) {
        coordinate.mean = target.mean(i);
        add_expectation("mean of " + name, 0);
        add_expectation("square of " + name, target.variance(i));
      }
      for (std::size_t q = 0; q < probabilities.size(); ++q) {
        coordinate.thresholds[q] = quantile(target, i, probabilities[q]);
        add_expectation(fmt::format("{} below its {}% point", name, 100 * probabilities[q]),
                        target.cumulative(i, coordinate.thresholds[q]));
      }
    }
    add_expectation("x . gradient", -static_cast<double>(target.dimension()));
  }

  std::size_t size() const override { return expectations_.size(); }
  std::span<const double> expectations() const { return expectations_; }
  const std::string& name(std::size_t j) const { return names_[j]; }

  void add(double weight, const StateView& state, std::span<double> sums) const override {
    std::size_t j = 0;
    double virial = 0;
    for (std::size_t i = 0; i < coordinates_.size(); ++i) {
      const Coordinate& coordinate = coordinates_[i];
      const double x = state.position[i];
      virial += x * state.gradient[i];
      if (coordinate.with_moments) {
        const double offset = x - coordinate.mean;
        sums[j++] += weight * offset;
        sums[j++] += weight * offset * offset;
      }
      for (const double threshold : coordinate.thresholds) sums[j++] += x <= threshold ? weight : 0;
    }
    sums[j] += weight * virial;
  }

 private:
  struct Coordinate {
    bool with_moments = false;
    double mean = 0;
    std::array<double, probabilities.size()> thresholds{};
  };

  void add_expectation(std::string name, double value) {
    names_.push_back(std::move(name));
    expectations_.push_back(value);
  }

  /// By bisection of the distribution function; what matters is cumulative() at the result.
  template <class Target>
  static double quantile(const Target& target, std::size_t coordinate, double probability) {
    double low = -1e4;
    double high = 1e4;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (target.cumulative(coordinate, middle) < probability ? low : high) = middle;
    }
    return high;
  }

  std::vector<Coordinate> coordinates_;
  std::vector<std::string> names_;
  std::vector<double> expectations_;
};

/// z-scores of several numbers whose expectations should be zero, from independent replicates.
class ZScores {
 public:
  explicit ZScores(std::size_t size) : sums_(size, 0.0), squares_(size, 0.0) {}

  void add(std::span<const double> values) {
    ++replicates_;
    for (std::size_t j = 0; j < values.size(); ++j) {
      sums_[j] += values[j];
      squares_[j] += values[j] * values[j];
    }
  }

  std::size_t size() const { return sums_.size(); }

  double z(std::size_t j) const {
    const auto n = static_cast<double>(replicates_);
    const double mean = sums_[j] / n;
    const double variance = (squares_[j] / n - mean * mean) / (n - 1);
    if (mean == 0) return 0;
    return variance > 0 ? mean / std::sqrt(variance) : std::numeric_limits<double>::infinity();
  }

  /// The index with the largest |z|.
  std::size_t worst() const {
    std::size_t result = 0;
    for (std::size_t j = 1; j < size(); ++j) {
      if (std::abs(z(j)) > std::abs(z(result))) result = j;
    }
    return result;
  }

 private:
  std::size_t replicates_ = 0;
  std::vector<double> sums_;
  std::vector<double> squares_;
};

}  // namespace rehmc::testing
