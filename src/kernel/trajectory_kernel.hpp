// What all kernels share: the chain's state, recycling, and the record of a transition.
#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "erased_keeper.hpp"
#include "rehmc/dynamics/dynamics.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/recycle/feature_sums.hpp"
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
  /// Releases what the last transition kept, and starts a trajectory at the chain's state.
  typename D::Point begin_transition(const Tuning& tuning, const Address& address);

  /// Calls `grow(keeper)` with the recycler and whatever else is in use as one keeper.
  template <class Grow>
  void with_keeper(Grow&& grow) {
    if (recording_) [[unlikely]] {
      return grow(*recording_);
    }
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
  D dynamics_;
  Transition record_;

  /// Kept where steps are accepted one by one (accept_each, stride): one reference each.
  std::vector<StateHandle> accepted_;

 private:
  using Recycler =
      std::variant<KeepNone, KeepEvery<StatePool>, KeepSpread<StatePool>, KeepSimple<StatePool>>;

  void release_last_transition();
  void require_position() const;
  void view_kept();
  void view_visited();

  StateHandle current_;
  bool has_position_ = false;
  Recycler recycler_;
  FeatureSums<StatePool> sums_;
  RecordVisits<StatePool> visits_;
  /// Recycler, sums and visits as one, while visits are recorded. Behind virtual functions, since
  /// further templates keep compilers from inlining the fast ones.
  std::unique_ptr<ErasedKeeper> recording_;
  std::vector<StateHandle> slots_;  ///< the state of each slot, while visits are recorded
  std::vector<WeightedState> kept_view_;
  std::vector<VisitedState> visited_view_;
};

}  // namespace rehmc
