// Functions of a state whose weighted sums over whole trajectories somebody wants.
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
};

/// First and second moments about a centre c: (x - c) for every coordinate, then (x - c)^2.
/// A centre somewhere in the bulk of the target keeps the second moments free of cancellation.
class MomentFeatures final : public Features {
 public:
  explicit MomentFeatures(std::vector<double> centre) : centre_(std::move(centre)) {}
  std::size_t size() const override { return 2 * centre_.size(); }
  void add(double weight, const StateView& state, std::span<double> sums) const override;
  void add_all(std::span<const WeightedState> states, std::span<double> sums) const override;
  std::span<const double> centre() const { return centre_; }

 private:
  std::vector<double> centre_;
};

/// A linear map of gradients.
using GradientMap = std::function<void(std::span<const double> gradient, std::span<double> mapped)>;

/// What sharpening needs beside the moments: those of MomentFeatures, then with the gradient g of
/// the log density g, (x - c) g and (x - c)^2 g, each for every coordinate. A map, if given, takes
/// g to what stands in its place. For one thread at a time.
class GradientMomentFeatures final : public Features {
 public:
  explicit GradientMomentFeatures(std::vector<double> centre, GradientMap map = {})
      : centre_(std::move(centre)), map_(std::move(map)) {}
  std::size_t size() const override { return 5 * centre_.size(); }
  void add(double weight, const StateView& state, std::span<double> sums) const override;
  void add_all(std::span<const WeightedState> states, std::span<double> sums) const override;

 private:
  static constexpr std::size_t batch = 4;
  /// What stands for the gradient; `place` tells apart those of one batch.
  const double* mapped(const StateView& state, std::size_t place) const;

  std::vector<double> centre_;
  GradientMap map_;
  mutable std::array<std::vector<double>, batch> mapped_;
};

/// First moments about a centre, then the lower triangle of (x - c)(x - c)', row by row.
class CovarianceFeatures final : public Features {
 public:
  explicit CovarianceFeatures(std::vector<double> centre) : centre_(std::move(centre)) {}
  std::size_t size() const override {
    return centre_.size() + centre_.size() * (centre_.size() + 1) / 2;
  }
  void add(double weight, const StateView& state, std::span<double> sums) const override;
  std::span<const double> centre() const { return centre_; }

 private:
  std::vector<double> centre_;
};

}  // namespace rehmc
