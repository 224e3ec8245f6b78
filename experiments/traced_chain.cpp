// Runs a kernel that keeps all states, and finds which of them the chain came from and went to.
#include "experiments/traced_chain.hpp"

#include <algorithm>
#include <utility>

namespace rehmc::experiments {

TracedChain::TracedChain(const Density& density, const KernelSettings& settings, Tuning tuning,
                         std::span<const double> start, const Address& address)
    : kernel_(make_kernel(density, settings)),
      tuning_(std::move(tuning)),
      address_(address),
      reader_(density) {
  kernel_->set_position(start);
}

const Transition& TracedChain::skip() {
  const Transition& transition = kernel_->transition(tuning_, address_);
  ++address_.iteration;
  leapfrogs_ += transition.leapfrogs;
  return transition;
}

const Transition& TracedChain::step() {
  const auto position = kernel_->state().position;
  before_.assign(position.begin(), position.end());
  transition_ = &kernel_->transition(tuning_, address_);
  ++address_.iteration;
  leapfrogs_ += transition_->leapfrogs;
  parameters_ = reader_.read(states());
  next_ = find(transition_->state.position);
  start_ = find(before_);
  return *transition_;
}

std::size_t TracedChain::find(std::span<const double> position) const {
  const auto same = [&](const WeightedState& entry) {
    const auto other = entry.state.position;
    return other.data() == position.data() ||
           std::equal(other.begin(), other.end(), position.begin());
  };
  const auto found = std::find_if(states().begin(), states().end(), same);
  return static_cast<std::size_t>(found - states().begin());
}

}  // namespace rehmc::experiments
