// HMC with paths of L steps, each of which is accepted or rejected (Algorithm 1, Theorems 1-2).
#include "makers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "phase_space.hpp"
#include "rehmc/recycle/accept_steps.hpp"
#include "rehmc/trajectory/path.hpp"

namespace rehmc {

namespace {

/// The walk of trajectory/path.hpp along leapfrog steps.
class LeapfrogPath {
 public:
  using State = StateHandle;

  LeapfrogPath(PhaseSpace& space, const PhasePoint& start, double max_energy_error)
      : space_(space),
        start_energy_(space.states.energy(start.state)),
        max_energy_error_(max_energy_error),
        front_{start} {
    space_.states.retain(start.state);
  }

  PathStep<State> step() {
    Front to = space_.step(front_, space_.step_size());
    ++leapfrogs_;
    const double energy_error = space_.states.energy(to.point.state) - start_energy_;
    if (!(energy_error <= max_energy_error_)) {
      space_.keep_divergence(front_.point, to, Direction::forward);
      return {to.point.state, 0.0, true};
    }
    release_front();
    front_ = to;
    return {to.point.state, std::min(1.0, std::exp(-energy_error))};
  }

  /// The last state that did not diverge.
  State end() const { return front_.point.state; }
  /// Lets go of it.
  void finish() { release_front(); }

  std::uint32_t leapfrogs() const { return leapfrogs_; }

 private:
  void release_front() {
    space_.momenta->release(front_.point.momentum);
    space_.release(front_);
  }

  PhaseSpace& space_;
  double start_energy_;
  double max_energy_error_;
  Front front_;
  std::uint32_t leapfrogs_ = 0;
};

class PathHmc final : public HamiltonianKernel {
 public:
  PathHmc(Density density, const KernelSettings& settings)
      : HamiltonianKernel(std::move(density), settings) {}

  const Transition& transition(const Tuning& tuning, const Address& address) override {
    const PhasePoint start = begin_transition(tuning, address);
    const double start_energy = space_.states.energy(start.state);
    const Path<StateHandle> path{start.state, draw_steps(tuning.step_size, address)};
    const double coin = Stream(address, Purpose::acceptance).uniform();

    LeapfrogPath walk(space_, start, settings_.hmc.max_energy_error);
    AcceptSteps<StatePool> accept_steps(space_.states, accepted_, settings_.recycling, path,
                                        {coin, Stream(address, Purpose::recycling)});
    PathOutcome outcome;
    with_keeper([&](auto& keeper) { outcome = walk_path(walk, path, keeper, accept_steps); });

    const StateHandle next = coin < outcome.acceptance ? walk.end() : start.state;
    space_.states.retain(next);
    walk.finish();

    record_.ending = outcome.ending;
    record_.leapfrogs = walk.leapfrogs();
    record_.acceptance = outcome.acceptance;
    record_.path_length = static_cast<double>(path.steps) * tuning.step_size;
    if (settings_.hmc.weight_by_steps) record_.mass = static_cast<double>(path.steps);
    return finish_transition(next, start_energy);
  }

 private:
  std::uint64_t draw_steps(double step_size, const Address& address) const {
    const HmcSettings& path = settings_.hmc;
    Stream stream(address, Purpose::path_length);
    const auto limit = static_cast<double>(path.max_steps);
    if (path.path_steps > 0) {
      const int most = std::max(path.path_steps, path.path_steps_most);
      const auto choices = static_cast<std::uint64_t>(most - path.path_steps + 1);
      return std::min(static_cast<std::uint64_t>(path.path_steps) + stream.below(choices),
                      static_cast<std::uint64_t>(path.max_steps));
    }
    const double jitter =
        path.jitter_least + (path.jitter_most - path.jitter_least) * stream.uniform();
    const double steps = std::round(jitter * path.path_length / step_size);
    return static_cast<std::uint64_t>(std::clamp(steps, 1.0, limit));
  }
};

}  // namespace

std::unique_ptr<Kernel> make_path_hmc(Density density, const KernelSettings& settings) {
  return std::make_unique<PathHmc>(std::move(density), settings);
}

}  // namespace rehmc
