// Weighted feature sums over all states of a trajectory, of which none is stored.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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

  explicit FeatureSums(States& states) : states_(&states) {}

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
    if (!(weight > 0) || !active()) return;
    features_->add(weight, states_->view(state), tree_);
    tree_weight_ += weight;
  }
  void begin_half(Direction, std::uint64_t) {
    std::fill(half_.begin(), half_.end(), 0.0);
    half_weight_ = 0;
  }
  void leaf(Handle state, double weight) {
    if (!(weight > 0) || !active()) return;
    half_weight_ += weight;
    // Several states are added at once, which saves most of the passes over the sums.
    states_->retain(state);
    waiting_[waiting_count_++] = {state, weight};
    if (waiting_count_ == waiting_.size()) add_waiting();
  }
  void join() {}
  template <class Selected>
  void subtree(const Selected&, double, std::uint64_t) {}
  void rescale_half(double factor) {
    rescale(half_, half_weight_, factor);
    for (std::size_t k = 0; k < waiting_count_; ++k) waiting_[k].weight *= factor;
  }
  void commit(Direction, double tree_factor, double half_factor) {
    if (!active()) return;
    add_waiting();
    if (tree_factor != 1) rescale(tree_, tree_weight_, tree_factor);
    for (std::size_t i = 0; i < tree_.size(); ++i) tree_[i] += half_factor * half_[i];
    tree_weight_ += half_factor * half_weight_;
  }
  void drop_half() { forget_waiting(); }

  /// The weighted means of the features over the committed trajectory.
  FeatureMeans finish() {
    const double scale = 1 / tree_weight_;
    for (double& sum : tree_) sum *= scale;
    return features_->by_name(tree_);
  }

 private:
  struct Waiting {
    Handle state;  ///< with a reference of its own
    double weight;
  };

  void add_waiting() {
    std::array<WeightedState, states_at_once> states;
    for (std::size_t k = 0; k < waiting_count_; ++k) {
      states[k] = {states_->view(waiting_[k].state), waiting_[k].weight};
    }
    features_->add_all(std::span(states).first(waiting_count_), half_);
    forget_waiting();
  }
  void forget_waiting() {
    for (std::size_t k = 0; k < waiting_count_; ++k) states_->release(waiting_[k].state);
    waiting_count_ = 0;
  }
  static void rescale(std::vector<double>& sums, double& weight, double factor) {
    for (double& sum : sums) sum *= factor;
    weight *= factor;
  }

  States* states_;
  const Features* features_ = nullptr;
  std::vector<double> tree_;
  std::vector<double> half_;
  double tree_weight_ = 0;
  double half_weight_ = 0;
  std::array<Waiting, states_at_once> waiting_{};
  std::size_t waiting_count_ = 0;
};

}  // namespace rehmc
