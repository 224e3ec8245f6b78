// Running means, variances and upper quantiles of all arms along one chain, and their errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "experiments/arms.hpp"

namespace rehmc::experiments {

enum class Statistic { mean, variance, quantile };
inline constexpr std::size_t statistics = 3;
inline constexpr double upper_probability = 0.975;

/// A histogram of each parameter around its 97.5% quantile.
struct Bins {
  static constexpr std::size_t count = 64;
  static constexpr double width = 0.04;  ///< in posterior sds

  std::vector<double> low;    ///< lower edge of the first, per parameter
  std::vector<double> scale;  ///< bins per unit

  Bins() = default;
  /// Centred at (roughly) the quantile, with (roughly) the sd.
  Bins(std::span<const double> quantile, std::span<const double> sd);

  /// The value that a share of 2.5% of the total weight exceeds, interpolated within its bin;
  /// clipped to the bins.
  template <class Number>
  double quantile(std::size_t parameter, const Number* counts, double total) const {
    double above = (1 - upper_probability) * total;
    for (std::size_t b = count; b-- > 0;) {
      const double here = counts[b];
      if (here >= above && here > 0) {
        const double fraction = 1 - above / here;
        return low[parameter] + (static_cast<double>(b) + fraction) / scale[parameter];
      }
      above -= here;
    }
    return low[parameter];
  }
};

/// The indices (parameter * Bins::count + bin) that values fall into; those below the first bin
/// have none, those above the last are in it.
class Places {
 public:
  void find(const Bins& of, std::span<const double> values);
  std::span<const std::uint32_t> found() const { return {places_.data(), end_}; }

 private:
  std::vector<std::int32_t> bins_;
  std::vector<std::uint32_t> places_;
  std::size_t end_ = 0;
};

/// The sums of all arms along one chain. What a draw adds is computed in single precision, in which
/// distances from the centre have errors of 1e-7 of an sd; the sums are doubles.
class ArmSums {
 public:
  ArmSums(std::size_t arms, std::span<const double> centre, const Bins& bins);

  /// One draw: the parameters of its states and each arm's share of them.
  void add(std::span<const std::span<const double>> states, const ArmShares& shares);

  /// The estimate of a statistic by an arm, for all parameters.
  void estimate(std::size_t arm, Statistic statistic, std::span<double> out) const;
  double mass(std::size_t arm) const { return masses_[arm]; }  ///< of all its draws

 private:
  struct Use {
    std::size_t arm;
    double weight;
  };
  void add_moments(const ArmShares& shares);
  void add_tile(const ArmShares& shares, std::size_t arm, std::size_t from, std::size_t size);
  void add_to_histograms(std::span<const std::span<const double>> states);

  std::span<const double> centre_;
  const Bins& bins_;
  std::vector<double> masses_;             ///< by arm
  std::vector<std::vector<double>> sums_;  ///< by arm: x - centre, then its square
  std::vector<std::vector<float>> counts_;
  std::vector<std::vector<Use>> uses_;         ///< of the histograms, by state
  std::vector<std::vector<float>> distances_;  ///< scratch: x - centre, by state
  Places places_;
};

}  // namespace rehmc::experiments
