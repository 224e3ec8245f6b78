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

  /// The bins of values of the parameters from the `first` on, counted from 1; 0 for values below
  /// them. Those above are in the last.
  void find(std::span<const double> values, std::size_t first, std::uint8_t* found) const;

  /// The value that a share of 2.5% of the total weight exceeds, interpolated within its bin;
  /// clipped to the bins.
  template <class CountOf>
  double quantile_of(std::size_t parameter, double total, CountOf&& count_of) const {
    double above = (1 - upper_probability) * total;
    for (std::size_t b = count; b-- > 0;) {
      const double here = count_of(b);
      if (here >= above && here > 0) {
        const double fraction = 1 - above / here;
        return low[parameter] + (static_cast<double>(b) + fraction) / scale[parameter];
      }
      above -= here;
    }
    return low[parameter];
  }
  double quantile(std::size_t parameter, const double* counts, double total) const {
    return quantile_of(parameter, total, [&](std::size_t b) { return counts[b]; });
  }
};

/// Which of some values have a bin, and its index (parameter * Bins::count + bin).
class Places {
 public:
  void find(const Bins& of, std::span<const double> values);
  std::span<const std::uint32_t> found() const { return {places_.data(), end_}; }

 private:
  std::vector<std::uint8_t> bins_;
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
  void estimate(std::size_t arm, Statistic statistic, std::span<double> out);
  double mass(std::size_t arm) const { return masses_[arm]; }  ///< of all its draws

 private:
  /// Parameters at a time, whose distances in a hundred states stay in the cache.
  static constexpr std::size_t tile = 64;
  /// Of the histograms of a parameter: first what is below the bins, then the bins.
  static constexpr std::size_t rows = Bins::count + 1;
  /// States that wait for the histograms. Those of all parameters do not fit into a cache: they
  /// are passed through once for many draws, and a few of them take all states that wait.
  static constexpr std::size_t most_waiting = 1024;
  /// So many that their histograms fit into the fastest cache.
  static constexpr std::size_t parameters_at_once = 8;

  /// Numbers of eight arms, which are added together.
  struct alignas(32) Arms {
    std::array<float, 8> of{};
    void add(const Arms& other) {
#pragma omp simd
      for (std::size_t a = 0; a < of.size(); ++a) of[a] += other.of[a];
    }
  };
  struct alignas(32) Distances {
    std::array<float, tile> of;
  };

  void add_weights(const ArmShares& shares, std::size_t states);
  void add_distances(std::span<const std::span<const double>> states, std::size_t from,
                     std::size_t size);
  void add_moments(const ArmShares& shares, std::size_t arm, std::size_t from, std::size_t size);
  void make_room(std::size_t states);
  void empty_waiting_room();
  template <class Groups>
  void fill_histograms(Groups groups);
  std::uint8_t* waiting_bins(std::size_t from, std::size_t place) {
    return &waiting_bins_[(from / tile * room_ + place) * tile];
  }

  std::span<const double> centre_;
  const Bins& bins_;
  std::size_t groups_;                     ///< of arms
  std::vector<double> masses_;             ///< by arm
  std::vector<std::vector<double>> sums_;  ///< by arm: x - centre, then its square
  std::vector<Arms> counts_;               ///< by parameter, row and group of arms
  // States that wait for the histograms.
  std::size_t room_ = 0;  ///< for so many
  std::size_t waiting_ = 0;
  std::vector<std::uint8_t> waiting_bins_;  ///< by tile, state and parameter of the tile
  std::vector<Arms> waiting_weights_;       ///< by state and group of arms
  // Scratch, by state of a draw.
  std::vector<Arms> weights_;                ///< in the histograms, by group of arms
  std::vector<std::size_t> waiting_places_;  ///< not_waiting: used by no histogram
  std::vector<Distances> distances_;
  static constexpr std::size_t not_waiting = static_cast<std::size_t>(-1);
};

}  // namespace rehmc::experiments
