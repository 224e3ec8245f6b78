// Running means, variances and upper quantiles of all arms along one chain, and their errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "experiments/arms.hpp"
#include "rehmc/recycle/features.hpp"

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

/// The sums of all arms along one chain.
class ArmSums {
 public:
  ArmSums(std::size_t arms, std::span<const double> centre, const Bins& bins);

  /// One draw: the parameters of its states and each arm's share of them.
  void add(std::span<const std::span<const double>> states, const ArmShares& shares);

  /// The estimate of a statistic by an arm, for all parameters.
  void estimate(std::size_t arm, Statistic statistic, std::span<double> out) const;

 private:
  struct Use {
    std::size_t arm;
    double weight;
  };
  static constexpr std::size_t block = 4;  ///< what MomentFeatures adds in one pass
  void add_moments(std::size_t arm, std::span<const Share> shares,
                   std::span<const std::span<const double>> states);

  std::span<const double> centre_;
  const Bins& bins_;
  double draws_ = 0;
  MomentFeatures moments_;
  std::vector<std::vector<double>> sums_;  ///< by arm: x - centre, then its square
  std::vector<WeightedState> weighted_;    ///< scratch
  std::vector<std::vector<float>> counts_;
  std::vector<std::vector<Use>> uses_;  ///< of the histograms, by state
  Places places_;
};

}  // namespace rehmc::experiments
