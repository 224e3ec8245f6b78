// Private to sharpen/: the states of a run as matrices, and Stein features of one coordinate.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "rehmc/sharpen/sharpen.hpp"
#include "stein_frame.hpp"

namespace rehmc {

/// The states of all chains, one after the other.
struct StateTable {
  std::size_t chains = 0;
  std::size_t draws_per_chain = 0;
  Eigen::MatrixXd positions;
  Eigen::MatrixXd gradients;
  Eigen::VectorXd weights;          ///< those of a draw sum to its mass
  Eigen::VectorXd masses;           ///< of the draws, with mean 1
  std::vector<std::size_t> begins;  ///< of the states of every draw, then their number

  /// Throws DataError if the chains do not fit together.
  explicit StateTable(std::span<const GradientStates> given);

  Eigen::Index dimension() const { return positions.cols(); }
  Eigen::Index states() const { return positions.rows(); }
  std::size_t draws() const { return begins.size() - 1; }
  /// Weighted means over the states of every draw of function(state), times its mass.
  template <class Function>
  Eigen::VectorXd draw_means(Function&& function) const {
    Eigen::VectorXd means(static_cast<Eigen::Index>(draws()));
    for (std::size_t n = 0; n < draws(); ++n) {
      double sum = 0;
      for (std::size_t k = begins[n]; k < begins[n + 1]; ++k) {
        const auto s = static_cast<Eigen::Index>(k);
        sum += weights[s] * function(s);
      }
      means[static_cast<Eigen::Index>(n)] = sum;
    }
    return means;
  }
  /// A series of the same mean that has the error of a ratio: the sum of masses times values over
  /// the sum of masses. For functions whose mean is not 0.
  Eigen::VectorXd as_ratio(Eigen::VectorXd series) const {
    series += series.mean() * (1 - masses.array()).matrix();
    return series;
  }
  /// For each threshold, one column: the share of every draw's states whose value is at or below
  /// it, times its mass.
  Eigen::MatrixXd shares_below(const Eigen::Ref<const Eigen::VectorXd>& values,
                               std::span<const double> thresholds) const;
  /// The same as draw_means() for all columns of a matrix with one row per state.
  Eigen::MatrixXd draw_means_of(const Eigen::Ref<const Eigen::MatrixXd>& columns) const;

 private:
  void weigh_draws(std::span<const GradientStates> given);
};

/// One coordinate in a frame, for all states: z, u = (C g), and what the features of thresholds q
/// are made of. The field of a threshold cancels the indicator of {z <= q} in a standard normal: it
/// is the solution of h' - z h = 1{z <= q} - Phi(q) that is bounded,
///   h_q(z) = Phi(min(z, q)) (1 - Phi(max(z, q))) / phi(z),
/// and its feature is h_q (u + z) + 1{z <= q} - Phi(q). Given Mills' ratios of z, every threshold
/// costs one product.
struct CoordinateStates {
  Eigen::VectorXd z;
  Eigen::VectorXd u;
  Eigen::VectorXd g;      ///< the gradient of this coordinate alone, in the same units
  Eigen::VectorXd below;  ///< Phi(z) / phi(z) (u + z), times the weight of the state
  Eigen::VectorXd above;  ///< (1 - Phi(z)) / phi(z) (u + z), likewise

  CoordinateStates(const StateTable& table, const SteinFrame& frame, Eigen::Index coordinate,
                   const Eigen::Ref<const Eigen::VectorXd>& u_of_states);
  /// z, u and g of some of the states.
  CoordinateStates some(const std::vector<Eigen::Index>& rows) const;

 private:
  CoordinateStates() = default;
};

/// Fields that are powers of z: C e_i, then for every power z^j C e_i and z^j e_i. The latter does
/// not suffer from errors of C if the coordinates are independent.
inline constexpr Eigen::Index highest_power = 3;
/// The field C e_i, and those whose features are z u + 1 and z g + 1.
inline constexpr Eigen::Index constant_field = 0;
inline constexpr Eigen::Index field_z_u = 1;
inline constexpr Eigen::Index field_z_g = 2;
/// How many fields there are up to a power.
constexpr Eigen::Index power_fields(Eigen::Index highest) { return 1 + 2 * highest; }
/// The power of z of a field.
constexpr Eigen::Index power_of(Eigen::Index field) { return (field + 1) / 2; }
/// Whether a field goes along C e_i.
constexpr bool is_along_c(Eigen::Index field) { return field == 0 || field % 2 == 1; }

/// The feature of one of those fields at every state.
Eigen::VectorXd power_feature(const CoordinateStates& states, Eigen::Index field);

/// Per draw the means of the first of those features.
Eigen::MatrixXd power_features(const StateTable& table, const CoordinateStates& states,
                               Eigen::Index count);

/// A threshold of one coordinate x: the indicator of {x <= threshold} and the feature of its field,
/// which is 0 for a threshold too far out for numbers.
class Threshold {
 public:
  Threshold(const StateTable& table, const SteinFrame& frame, Eigen::Index coordinate,
            const CoordinateStates& states, double threshold);

  /// So much of each.
  struct Mix {
    double indicator;
    double feature;
  };
  /// Per draw, from begin to end, the mean of a mix over its states.
  Eigen::VectorXd means(const Mix& mix, Eigen::Index begin, Eigen::Index end) const;
  /// Phi(q), which for the indicator makes up for masses that differ: see StateTable::as_ratio().
  double lower() const { return lower_; }
  /// The sum of those.
  double sum_of_means(const Mix& mix, Eigen::Index begin, Eigen::Index end) const;

 private:
  Eigen::Index begin_of(Eigen::Index draw) const {
    return static_cast<Eigen::Index>(table_.begins[static_cast<std::size_t>(draw)]);
  }
  /// What states from the first on add to the means, except for the constant.
  void of_mix(const Mix& mix, Eigen::Index first, Eigen::Ref<Eigen::ArrayXd> of_states) const;
  /// Of a draw with this mass. For the indicator: as for a ratio, see StateTable; Phi(q) is near
  /// enough to its mean.
  double constant(const Mix& mix, double mass) const {
    const double of_indicator = mix.indicator * lower_ * (1 - mass);
    return usable_ ? of_indicator - mix.feature * lower_ * mass : of_indicator;
  }

  const StateTable& table_;
  const CoordinateStates& states_;
  Eigen::Index coordinate_;
  double threshold_;
  bool usable_;
  double lower_;
  double upper_;  ///< 1 - Phi(q)
};

}  // namespace rehmc
