// Functions of a state whose weighted means over whole trajectories are computed.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rehmc/core/state.hpp"

namespace rehmc {

/// Weighted means of features over a trajectory, by name; those that are not summed are empty. Here
/// c is the centre of the features and g the gradient of the log density, or what a map made of it.
struct FeatureMeans {
  std::span<const double> first{};            ///< x - c
  std::span<const double> second{};           ///< (x - c)^2, coordinate by coordinate
  std::span<const double> covariance{};       ///< lower triangle of (x - c)(x - c)', row by row
  std::span<const double> gradient{};         ///< g
  std::span<const double> first_gradient{};   ///< (x - c) g, coordinate by coordinate
  std::span<const double> second_gradient{};  ///< (x - c)^2 g, coordinate by coordinate
  std::span<const double> all{};              ///< all of them, in the order of Features
};

/// How many states are usually added together: a pass over the sums then serves all of them.
inline constexpr std::size_t states_at_once = 4;

/// A feature vector phi(x, gradient), summed as the trajectory grows; no states are stored for it.
class Features {
 public:
  virtual ~Features() = default;
  /// Number of sums.
  virtual std::size_t size() const = 0;
  /// Adds weight * phi(state) to the sums.
  virtual void add(double weight, const StateView& state, std::span<double> sums) const = 0;
  /// Adds several states. Worth overriding where a pass over the sums costs more than phi itself.
  virtual void add_all(std::span<const WeightedState> states, std::span<double> sums) const {
    for (const WeightedState& state : states) add(state.weight, state.state, sums);
  }
  /// Gives names to the parts of a vector of `size()` sums or means.
  virtual FeatureMeans by_name(std::span<const double> means) const { return {.all = means}; }
};

/// First and second moments about a centre c: (x - c) for every coordinate, then (x - c)^2.
/// A centre somewhere in the bulk of the target keeps the second moments free of cancellation.
class MomentFeatures final : public Features {
 public:
  explicit MomentFeatures(std::vector<double> centre) : centre_(std::move(centre)) {}
  std::size_t size() const override { return 2 * centre_.size(); }
  void add(double weight, const StateView& state, std::span<double> sums) const override;
  void add_all(std::span<const WeightedState> states, std::span<double> sums) const override;
  FeatureMeans by_name(std::span<const double> means) const override;
  std::span<const double> centre() const { return centre_; }

 private:
  std::vector<double> centre_;
};

/// A linear map of gradients.
using GradientMap = std::function<void(std::span<const double> gradient, std::span<double> mapped)>;

/// What sharpening needs: the moments of MomentFeatures, then with the gradient g of
/// the log density g, (x - c) g and (x - c)^2 g, each for every coordinate. A map, if given, takes
/// g to what stands in its place. For one thread at a time.
class GradientMomentFeatures final : public Features {
 public:
  explicit GradientMomentFeatures(std::vector<double> centre, GradientMap map = {})
      : centre_(std::move(centre)), map_(std::move(map)) {}
  std::size_t size() const override { return 5 * centre_.size(); }
  void add(double weight, const StateView& state, std::span<double> sums) const override;
  void add_all(std::span<const WeightedState> states, std::span<double> sums) const override;
  FeatureMeans by_name(std::span<const double> means) const override;

 private:
  /// The mapped gradient; `place` is its index among the states added at once.
  const double* mapped(const StateView& state, std::size_t place) const;

  std::vector<double> centre_;
  GradientMap map_;
  mutable std::array<std::vector<double>, states_at_once> mapped_;
};

/// First moments about a centre, then the lower triangle of (x - c)(x - c)', row by row.
class CovarianceFeatures final : public Features {
 public:
  explicit CovarianceFeatures(std::vector<double> centre) : centre_(std::move(centre)) {}
  std::size_t size() const override {
    return centre_.size() + centre_.size() * (centre_.size() + 1) / 2;
  }
  void add(double weight, const StateView& state, std::span<double> sums) const override;
  FeatureMeans by_name(std::span<const double> means) const override;
  std::span<const double> centre() const { return centre_; }

 private:
  std::vector<double> centre_;
};

}  // namespace rehmc
