// HMC with paths of L steps, every state of which is accepted or rejected (Algorithm 1, Theorems
// 1-2).
#include "hmc.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "phase_space.hpp"

namespace rehmc {

namespace {

class PathHmc final : public HamiltonianKernel {
 public:
  PathHmc(Density density, const KernelSettings& settings)
      : HamiltonianKernel(std::move(density), settings) {}

  const Transition& transition(const Tuning& tuning, const Address& address) override {
    const PhasePoint start = begin_transition(tuning, address);
    const double start_energy = space_.states.energy(start.state);
    const std::uint64_t steps = draw_steps(tuning.step_size, address);
    const double coin = Stream(address, Purpose::acceptance).uniform();

    StateHandle next = start.state;
    with_keeper([&](auto& keeper) {
      next = walk(keeper, start, steps, coin, Stream(address, Purpose::recycling));
    });
    if (settings_.hmc.weight_by_steps) record_.mass = static_cast<double>(steps);
    record_.path_length = static_cast<double>(steps) * tuning.step_size;
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

  /// Walks the path and returns the chain's next state, with a reference of its own.
  ///
  /// Step k, with a_k = min(1, pi(z_k)/pi(z_0)), gives z_k the weight a_k and the start 1 - a_k.
  /// Steps that a divergence cut off count as rejections (paper/notes: "missing steps").
  template <class K>
  StateHandle walk(K& keeper, const PhasePoint& start, std::uint64_t steps, double coin,
                   Stream coins) {
    const double start_energy = space_.states.energy(start.state);
    space_.states.retain(start.state);
    PhasePoint front = start;
    double rejected = 0;
    double acceptance = 0;
    std::uint64_t done = 0;
    record_.ending = Ending::completed;
    keeper.begin_half();
    while (done < steps) {
      const PhasePoint to = space_.step(front, space_.step_size());
      ++record_.leapfrogs;
      const double energy_error = space_.states.energy(to.state) - start_energy;
      if (!(energy_error <= settings_.hmc.max_energy_error)) {
        space_.keep_divergence(front, to);
        record_.ending = Ending::diverged;
        break;
      }
      ++done;
      acceptance = std::min(1.0, std::exp(-energy_error));
      rejected += 1 - acceptance;
      keeper.leaf(to.state, acceptance);
      for (std::uint64_t m = done; (m & 1U) == 0; m >>= 1U) keeper.join();
      if (done < steps && is_recycled_step(done, steps)) {
        accept_or_reject(start.state, to.state, coins.uniform() < acceptance);
      }
      space_.states.release(front.state);
      space_.momenta->release(front.momentum);
      front = to;
    }
    // The steps done are done = sum of powers of two: as many subtrees are left as it has ones.
    for (std::uint64_t m = done & (done - 1); m != 0; m &= m - 1) keeper.join();
    const std::uint64_t missing = steps - done;
    keeper.start(start.state, rejected + static_cast<double>(missing));
    if (done > 0) keeper.commit(Direction::forward, 1.0, 1.0);

    record_.acceptance = missing == 0 ? acceptance : 0.0;
    const bool accepted = coin < record_.acceptance;
    for (std::uint64_t k = done + 1; k < steps; ++k) {
      if (is_recycled_step(k, steps)) accept_or_reject(start.state, start.state, false);
    }
    if (is_recycled_step(steps, steps)) accept_or_reject(start.state, front.state, accepted);

    const StateHandle next = accepted ? front.state : start.state;
    space_.states.retain(next);
    space_.states.release(front.state);
    space_.momenta->release(front.momentum);
    return next;
  }

  /// Whether accept_each or stride looks at step k of `steps`: all of them, or the K steps
  /// ceil(j steps / K), j = 1 ... K, the last of which is the end of the path.
  bool is_recycled_step(std::uint64_t k, std::uint64_t steps) const {
    switch (settings_.recycling.kind) {
      case RecyclingKind::accept_each:
        return true;
      case RecyclingKind::stride: {
        const std::uint64_t count = settings_.recycling.count;
        return count >= steps || k * count / steps > (k - 1) * count / steps;
      }
      default:
        return false;
    }
  }

  /// A rejected state contributes a copy of the start; it is not dropped (Algorithm 1, step 3).
  void accept_or_reject(StateHandle start, StateHandle state, bool accept) {
    const StateHandle kept = accept ? state : start;
    space_.states.retain(kept);
    accepted_.push_back(kept);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_path_hmc(Density density, const KernelSettings& settings) {
  return std::make_unique<PathHmc>(std::move(density), settings);
}

}  // namespace rehmc
