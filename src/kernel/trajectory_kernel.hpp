// What all kernels share: the chain's state, recycling, and the record of a transition.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "erased_keeper.hpp"
#include "rehmc/dynamics/dynamics.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/recycle/feature_sums.hpp"
#include "rehmc/recycle/recursive.hpp"
#include "rehmc/recycle/recyclers.hpp"
#include "rehmc/recycle/visits.hpp"

namespace rehmc {

/// A kernel that moves by a dynamics. Kernels derive from it and supply the trajectory. Members are
/// defined in trajectory_kernel.cpp, which instantiates it for each dynamics.
template <Dynamics D>
class TrajectoryKernel : public Kernel {
 public:
  using StateHandle = StatePool::Handle;

  TrajectoryKernel(Density density, const KernelSettings& settings);

  void set_position(std::span<const double> position) override;
  StateView state() const override { return dynamics_.states().view(current_); }
  void archive(ArchiveWriter& archive) const override;
  void archive(ArchiveReader& archive) override;
  void use_features(const Features* features) override { sums_.use(features); }
  void record_visits(bool record) override;
  double one_step_energy_error(const Tuning& tuning, Stream& stream) override;
  const Guard& guard() const override { return dynamics_.guard(); }
  const KernelSettings& settings() const override { return settings_; }

 protected:
  /// Releases what the last transition kept, and returns the chain's state, where recycling begins.
  StateHandle begin_states(const Tuning& tuning, const Address& address);
  /// The same, and draws a momentum: the start of a trajectory.
  /// With a kept momentum, only a part of it is drawn afresh.
  typename D::Point begin_transition(const Tuning& tuning, const Address& address,
                                     const std::optional<KeptMomentum>& kept = std::nullopt);

  /// Calls `grow(keeper)` with the recycler and whatever else is in use as one keeper.
  template <class Grow>
  void with_keeper(Grow&& grow) {
    if (erased_) [[unlikely]] {
      return grow(*erased_);
    }
    std::visit(
        [&](auto& recycler) {
          if constexpr (!std::same_as<std::decay_t<decltype(recycler)>, KeepRecursive<StatePool>>) {
            if (sums_.active()) {
              KeepAll keeper(recycler, sums_);
              grow(keeper);
            } else {
              grow(recycler);
            }
          }
        },
        recycler_);
  }

  /// The chain moves to `next`, whose reference it takes over; fills the views of the record.
  const Transition& finish_transition(StateHandle next, double start_energy);

  const KernelSettings settings_;
  D dynamics_;
  Transition record_;

  /// Kept where steps are accepted one by one (accept_each, stride): one reference each.
  std::vector<StateHandle> accepted_;

 private:
  using Recycler = std::variant<KeepNone, KeepEvery<StatePool>, KeepSpread<StatePool>,
                                KeepSimple<StatePool>, KeepRecursive<StatePool>>;

  void choose_recycler();
  void choose_keeper();
  void release_last_transition();
  void require_position() const;
  void view_kept();
  void view_visited();

  StateHandle current_;
  bool has_position_ = false;
  Recycler recycler_;
  FeatureSums<StatePool> sums_;
  RecordVisits<StatePool> visits_;
  bool recording_ = false;  ///< visits
  /// Recycler, sums and visits as one, while visits are recorded or the recycler is for comparison
  /// only. Behind virtual functions, since further templates keep compilers from inlining the fast
  /// ones.
  std::unique_ptr<ErasedKeeper> erased_;
  std::vector<StateHandle> slots_;  ///< the state of each slot, while visits are recorded
  std::vector<WeightedState> kept_view_;
  std::vector<VisitedState> visited_view_;
};

}  // namespace rehmc
