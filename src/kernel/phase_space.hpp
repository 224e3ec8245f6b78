// What every Hamiltonian kernel owns: guard, pools, the chain's state, and the leapfrog step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "rehmc/dynamics/pool.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/recycle/feature_sums.hpp"
#include "rehmc/recycle/recyclers.hpp"

namespace rehmc {

using StateHandle = StatePool::Handle;
using MomentumHandle = BlockPool::Handle;

/// A state and the momentum it was reached with.
struct PhasePoint {
  StateHandle state;
  MomentumHandle momentum;
  double kinetic_energy = 0;
};

/// An end of a trajectory that may grow. A step from it computes in passing where the next one
/// leads.
struct Front {
  PhasePoint point;
  std::optional<StateHandle> next{};  ///< its position alone is known; owned by the front
};

/// The states, the momenta and the physics that moves them.
class PhaseSpace {
 public:
  explicit PhaseSpace(Density density);

  StatePool states;
  std::optional<BlockPool> momenta;  ///< made anew when a metric with other blocks comes
  Guard guard;

  std::size_t dimension() const { return states.dimension(); }

  /// Prepares for a transition with this tuning; ConfigError if it does not fit.
  void use(const Tuning& tuning);

  /// A fresh momentum at the state, whose energy it sets.
  PhasePoint begin(StateHandle state, Stream& stream);

  /// One leapfrog step (eq. 2 of the paper), always of the same signed size from the same front;
  /// the energy is +inf if the model failed. The new front owns one reference to its state; what
  /// `from` owned stays with the caller, but for its `next`.
  Front step(Front& from, double signed_step);

  /// Lets go of a front's state and of its `next`; its momentum belongs to others.
  void release(Front& front);

  /// Keeps a step that diverged, with the momentum at its start, turned if the step went backward;
  /// takes over where it led, momentum included.
  void keep_divergence(const PhasePoint& from, Front& to, Direction direction);
  /// Lets go of it.
  void drop_divergence();
  /// The step kept last; only while it is kept.
  Divergence divergence() const;

  double* momentum(MomentumHandle handle) { return momenta->data(handle); }
  const Metric& metric() const { return *tuning_.metric; }
  double step_size() const { return tuning_.step_size; }

 private:
  struct DivergentStep {
    StateHandle start;
    PhasePoint end;
    Fault fault;
  };

  Tuning tuning_;
  std::size_t momentum_vectors_ = 0;
  std::optional<DivergentStep> divergent_;
};

/// A kernel on a phase space: the chain's state, recycling, feature sums and the record of a
/// transition. Kernels derive from it and supply the trajectory.
class HamiltonianKernel : public Kernel {
 public:
  HamiltonianKernel(Density density, const KernelSettings& settings);

  void set_position(std::span<const double> position) override;
  StateView state() const override { return space_.states.view(current_); }
  void archive(ArchiveWriter& archive) const override;
  void archive(ArchiveReader& archive) override;
  void use_features(const Features* features) override { sums_.use(features); }
  double one_step_energy_error(const Tuning& tuning, Stream& stream) override;
  const Guard& guard() const override { return space_.guard; }
  const KernelSettings& settings() const override { return settings_; }

 protected:
  using Recycler =
      std::variant<KeepNone, KeepEvery<StatePool>, KeepSpread<StatePool>, KeepSimple<StatePool>>;

  /// Lets go of what the last transition kept, and starts a trajectory at the chain's state.
  PhasePoint begin_transition(const Tuning& tuning, const Address& address);

  /// Calls `grow(keeper)` with the recycler and, if in use, the feature sums as one keeper.
  template <class Grow>
  void with_keeper(Grow&& grow) {
    std::visit(
        [&](auto& recycler) {
          if (sums_.active()) {
            KeepAll keeper(recycler, sums_);
            grow(keeper);
          } else {
            grow(recycler);
          }
        },
        recycler_);
  }

  /// The chain moves to `next`, whose reference it takes over; fills the views of the record.
  const Transition& finish_transition(StateHandle next, double start_energy);

  const KernelSettings settings_;
  PhaseSpace space_;
  StateHandle current_;
  Transition record_;

  /// Kept by HMC's own recyclers (accept_each, stride): one reference each.
  std::vector<StateHandle> accepted_;

 private:
  void release_last_transition();
  void require_position() const;

  bool has_position_ = false;
  Recycler recycler_;
  FeatureSums<StatePool> sums_;
  std::vector<WeightedState> kept_view_;
};

}  // namespace rehmc
