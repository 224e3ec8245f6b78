// Weighted feature sums over all states of a trajectory, of which none is stored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "rehmc/recycle/features.hpp"
#include "rehmc/trajectory/tree.hpp"

namespace rehmc {

/// One accumulator for the committed tree, one for the growing half: only whole halves of a tree
/// are ever dropped. Weights are relative to the start, rescaled by the tree when they would
/// overflow.
template <class States>
class FeatureSums {
 public:
  using Handle = typename States::Handle;

  explicit FeatureSums(const States& states) : states_(&states) {}

  /// From now on sums these features; nullptr for none.
  void use(const Features* features) {
    features_ = features;
    const std::size_t size = features == nullptr ? 0 : features->size();
    tree_.assign(size, 0.0);
    half_.assign(size, 0.0);
  }
  bool active() const { return features_ != nullptr; }

  void begin() {
    std::fill(tree_.begin(), tree_.end(), 0.0);
    tree_weight_ = 0;
  }
  void start(Handle state, double weight) {
    if (!(weight > 0)) return;
    features_->add(weight, states_->view(state), tree_);
    tree_weight_ += weight;
  }
  void begin_half() {
    std::fill(half_.begin(), half_.end(), 0.0);
    half_weight_ = 0;
  }
  void leaf(Handle state, double weight) {
    if (!(weight > 0)) return;
    features_->add(weight, states_->view(state), half_);
    half_weight_ += weight;
  }
  void join() {}
  void rescale_half(double factor) { rescale(half_, half_weight_, factor); }
  void commit(Direction, double tree_factor, double half_factor) {
    if (tree_factor != 1) rescale(tree_, tree_weight_, tree_factor);
    for (std::size_t i = 0; i < tree_.size(); ++i) tree_[i] += half_factor * half_[i];
    tree_weight_ += half_factor * half_weight_;
  }
  void drop_half() {}

  /// The weighted means of the features over the committed trajectory.
  std::span<const double> finish() {
    const double scale = 1 / tree_weight_;
    for (double& sum : tree_) sum *= scale;
    return tree_;
  }

 private:
  static void rescale(std::vector<double>& sums, double& weight, double factor) {
    for (double& sum : sums) sum *= factor;
    weight *= factor;
  }

  const States* states_;
  const Features* features_ = nullptr;
  std::vector<double> tree_;
  std::vector<double> half_;
  double tree_weight_ = 0;
  double half_weight_ = 0;
};

}  // namespace rehmc
