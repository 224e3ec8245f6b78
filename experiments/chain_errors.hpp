// Running means, variances and upper quantiles of all arms along one chain, and their errors.
#pragma once

#include <array>
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
  /// clipped to the bins. Counts of neighbouring bins are `apart` numbers from each other.
  template <class Number>
  double quantile(std::size_t parameter, const Number* counts, double total,
                  std::size_t apart = 1) const {
    double above = (1 - upper_probability) * total;
    for (std::size_t b = count; b-- > 0;) {
      const double here = counts[b * apart];
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
  /// The values are those of the parameters from the `first` on.
  void find(const Bins& of, std::span<const double> values, std::size_t first = 0);
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
  /// Parameters at a time: their distances in a hundred states, and the histograms of all arms,
  /// stay in the cache.
  static constexpr std::size_t tile = 64;
  /// Of the histograms of a parameter: one more than there are bins, so that bins of neighbouring
  /// parameters are no power of two apart, which a cache could not hold together.
  static constexpr std::size_t rows = Bins::count + 1;
  void add_distances(std::span<const std::span<const double>> states, std::size_t from,
                     std::size_t size);
  void add_moments(const ArmShares& shares, std::size_t arm, std::size_t from, std::size_t size);
  void add_to_histograms(std::span<const std::span<const double>> states, std::size_t from,
                         std::size_t size);

  std::span<const double> centre_;
  const Bins& bins_;
  std::size_t width_;                      ///< numbers of a bin: one per arm, and padding
  std::vector<double> masses_;             ///< by arm
  std::vector<std::vector<double>> sums_;  ///< by arm: x - centre, then its square
  std::vector<float> counts_;              ///< by parameter, bin and arm
  // Scratch, by state.
  std::vector<float> weights_;  ///< in the histograms, by arm
  std::vector<bool> used_;      ///< by a histogram
  std::vector<std::array<float, tile>> distances_;
  Places places_;
};

}  // namespace rehmc::experiments
