// Runs schemes of users: feeds what they yield to recyclers, as if it were a path.
#include "rehmc/kernel/multi_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rehmc/core/error.hpp"
#include "rehmc/dynamics/leapfrog.hpp"
#include "rehmc/recycle/accept_steps.hpp"
#include "trajectory_kernel.hpp"

namespace rehmc {

/// The states of a transition and their weights.
class MultiSteps {
 public:
  using Handle = StatePool::Handle;

  MultiSteps(StatePool& states, Guard& guard) : states_(states), guard_(guard), step_(*this) {}

  MultiStep& begin(Handle start, const Tuning& tuning, const Address& address) {
    release();
    states_.retain(start);
    handles_.push_back(start);
    step_.tuning_ = &tuning;
    step_.random_ = Stream(address, Purpose::selection);
    step_.weights_.clear();
    step_.proposals_.clear();
    step_.next_ = MultiStep::start;
    step_.acceptance_.reset();
    return step_;
  }

  MultiStep::Place evaluate(std::span<const double> position) {
    if (position.size() != states_.dimension()) {
      throw ConfigError(fmt::format("scheme: evaluates a position of {} coordinates, expected {}",
                                    position.size(), states_.dimension()));
    }
    const Handle state = states_.take();
    handles_.push_back(state);
    std::ranges::copy(position, states_.position(state));
    states_.log_density(state) = guard_({states_.position(state), states_.dimension()},
                                        {states_.gradient(state), states_.dimension()});
    states_.energy(state) = -states_.log_density(state);
    return handles_.size() - 1;
  }

  void check(MultiStep::Place place) const {
    if (place < handles_.size()) return;
    throw ConfigError(fmt::format("scheme: found place {}, but only {} states were evaluated",
                                  place, handles_.size() - 1));
  }

  /// The weights of all places, of which at least one is positive.
  const std::vector<double>& weights() {
    weights_.assign(handles_.size(), 0.0);
    if (!step_.proposals_.empty()) {
      for (const auto& [place, acceptance] : step_.proposals_) {
        weights_[place] += acceptance;
        weights_[MultiStep::start] += 1 - acceptance;
      }
    } else if (!step_.weights_.empty()) {
      const double largest =
          std::ranges::max_element(step_.weights_, {}, &MultiStep::Recorded::value)->value;
      for (const auto& [place, log_weight] : step_.weights_) {
        weights_[place] += std::exp(log_weight - largest);
      }
    } else {
      weights_[MultiStep::start] = 1;
    }
    for (std::size_t place = 1; place < weights_.size(); ++place) {
      if (!(weights_[place] > 0) || std::isfinite(states_.log_density(handles_[place]))) continue;
      throw ConfigError("scheme: gives a weight to a state where the target has no density");
    }
    return weights_;
  }

  double acceptance() const {
    if (step_.acceptance_) return std::clamp(*step_.acceptance_, 0.0, 1.0);
    double total = 0;
    for (const double weight : weights_) total += weight;
    if (step_.proposals_.empty()) return 1 - weights_[MultiStep::start] / total;
    double accepted = 0;
    for (const auto& proposal : step_.proposals_) accepted += proposal.value;
    return accepted / static_cast<double>(step_.proposals_.size());
  }

  Handle handle(MultiStep::Place place) const { return handles_[place]; }
  Handle next() const { return handles_[step_.next_]; }
  std::size_t evaluated() const { return handles_.size() - 1; }
  const std::vector<MultiStep::Recorded>& proposals() const { return step_.proposals_; }
  StateView view(MultiStep::Place place) const { return states_.view(handles_[place]); }

  void release() {
    for (const Handle handle : handles_) states_.release(handle);
    handles_.clear();
  }

 private:
  StatePool& states_;
  Guard& guard_;
  MultiStep step_;
  std::vector<Handle> handles_;  ///< by place; one reference each
  std::vector<double> weights_;  ///< by place
};

MultiStep::Place MultiStep::evaluate(std::span<const double> position) {
  return steps_.evaluate(position);
}

StateView MultiStep::state(Place place) const {
  steps_.check(place);
  return steps_.view(place);
}

void MultiStep::weigh(Place place, double log_weight) {
  steps_.check(place);
  if (!proposals_.empty()) throw ConfigError("scheme: yields both weights and proposals");
  if (std::isnan(log_weight) || log_weight == std::numeric_limits<double>::infinity()) {
    throw ConfigError(fmt::format("scheme: found {} as the logarithm of a weight", log_weight));
  }
  if (std::isfinite(log_weight)) weights_.push_back({place, log_weight});
}

void MultiStep::propose(Place place, double acceptance) {
  steps_.check(place);
  if (!weights_.empty()) throw ConfigError("scheme: yields both weights and proposals");
  proposals_.push_back({place, acceptance > 0 ? std::min(1.0, acceptance) : 0.0});
}

void MultiStep::move_to(Place place) {
  steps_.check(place);
  next_ = place;
}

namespace {

/// The kernel of a scheme. Its energy is that of the position alone.
class SchemeKernel final : public TrajectoryKernel<Leapfrog> {
 public:
  SchemeKernel(std::unique_ptr<MultiScheme> scheme, Density density, const KernelSettings& settings)
      : TrajectoryKernel(std::move(density), settings),
        scheme_(std::move(scheme)),
        steps_(dynamics_.states(), dynamics_.guard()) {}

  const Transition& transition(const Tuning& tuning, const Address& address) override {
    const StateHandle start = begin_states(tuning, address);
    StatePool& states = dynamics_.states();
    const double start_energy = states.energy(start) = -states.log_density(start);
    MultiStep& step = steps_.begin(start, tuning, address);
    scheme_->transition(step);
    const StateHandle next = steps_.next();
    if (!std::isfinite(states.log_density(next))) {
      throw ConfigError("scheme: moves the chain to a state where the target has no density");
    }
    const std::vector<double>& weights = steps_.weights();
    with_keeper([&](auto& keeper) { feed(keeper, weights); });
    accept_steps(address);
    states.retain(next);
    record_.leapfrogs = static_cast<std::uint32_t>(steps_.evaluated());
    record_.acceptance = steps_.acceptance();
    steps_.release();
    return finish_transition(next, start_energy);
  }

  void archive(ArchiveWriter& archive) const override {
    TrajectoryKernel::archive(archive);
    std::as_const(*scheme_).archive(archive);
  }
  void archive(ArchiveReader& archive) override {
    TrajectoryKernel::archive(archive);
    scheme_->archive(archive);
  }

 private:
  /// All states in the order of their places, as a path in one direction.
  template <class Keeper>
  void feed(Keeper& keeper, const std::vector<double>& weights) {
    const std::size_t leaves = steps_.evaluated();
    keeper.start(steps_.handle(MultiStep::start), weights[MultiStep::start]);
    if (leaves == 0) return;
    keeper.begin_half(Direction::forward, leaves);
    for (std::size_t n = 1; n <= leaves; ++n) {
      keeper.leaf(steps_.handle(n), weights[n]);
      for (std::size_t m = n; (m & 1U) == 0; m >>= 1U) keeper.join();
    }
    for (std::size_t m = leaves & (leaves - 1); m != 0; m &= m - 1) keeper.join();
    keeper.commit(Direction::forward, 1.0, 1.0);
  }

  /// The recyclers that look at each proposal by itself.
  void accept_steps(const Address& address) {
    if (!traits(settings_.kind).accepts_each_step || steps_.proposals().empty()) return;
    const Path<StateHandle> path{steps_.handle(MultiStep::start), steps_.proposals().size()};
    AcceptSteps<StatePool> accept(
        dynamics_.states(), accepted_, settings_.recycling, path,
        {Stream(address, Purpose::acceptance).uniform(), Stream(address, Purpose::recycling)});
    std::uint64_t k = 0;
    for (const auto& [place, acceptance] : steps_.proposals()) {
      accept(++k, steps_.handle(place), acceptance);
    }
  }

  std::unique_ptr<MultiScheme> scheme_;
  MultiSteps steps_;
};

}  // namespace

std::unique_ptr<Kernel> make_multi_kernel(std::unique_ptr<MultiScheme> scheme, Density density,
                                          const KernelSettings& settings) {
  return std::make_unique<SchemeKernel>(std::move(scheme), std::move(density), settings);
}

}  // namespace rehmc
