// Kernels: one transition of the Markov chain, with its statistics and its weighted trajectory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rehmc/core/archive.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/core/state.hpp"
#include "rehmc/dynamics/dynamics.hpp"
#include "rehmc/kernel/kernel_table.hpp"
#include "rehmc/model/guard.hpp"
#include "rehmc/recycle/features.hpp"
#include "rehmc/recycle/recycling.hpp"
#include "rehmc/trajectory/ending.hpp"

namespace rehmc {

/// Settings of both kinds of NUTS.
struct NutsSettings {
  int max_depth = 10;
  double max_energy_error = 1000;

  static constexpr auto settings() {
    using S = NutsSettings;
    return std::tuple{Setting{"max_depth", &S::max_depth, between(1, 30),
                              "maximum depth of the tree: at most 2^depth - 1 steps per draw"},
                      Setting{"max_energy_error", &S::max_energy_error, positive_finite(),
                              "a step whose energy error exceeds this is a divergence"}};
  }
};

/// Settings of all kernels with paths. L is `path_steps` steps if that is positive (uniform up to
/// `path_steps_most` if that is larger), else max(1, round(jitter * path_length / step size)) with
/// jitter uniform on [jitter_least, jitter_most].
struct HmcSettings {
  double path_length = 1.5707963267948966;  ///< a quarter turn of a standard normal
  double jitter_least = 0.9;
  double jitter_most = 1.1;
  int path_steps = 0;
  int path_steps_most = 0;
  int max_steps = 10000;
  double max_energy_error = 1000;
  /// Give every draw the same weight among the recycled ones. Otherwise every state has the same:
  /// Theorem 2, eq. (2.3), of Nishimura & Dunson (2020), so that draws with longer paths count
  /// more.
  bool weight_by_draws = false;
  /// Share of the momentum that the next draw keeps, Horowitz (1991): 0 draws it afresh. The kept
  /// momentum changes its sign where a path is rejected.
  double momentum_kept = 0;
  /// States in each of the two windows of a path, Neal (1994); 0 for a quarter of its states.
  int window = 0;

  static constexpr auto settings() {
    using S = HmcSettings;
    return std::tuple{
        Setting{"path_length", &S::path_length, positive_finite(),
                "integration time tau of a path, in units of the metric"},
        Setting{"jitter_least", &S::jitter_least, positive_finite(),
                "smallest factor on the path length, drawn for every path"},
        Setting{"jitter_most", &S::jitter_most, positive_finite(),
                "largest factor on the path length"},
        Setting{"path_steps", &S::path_steps, between(0, 1e6),
                "number of steps of a path; 0 to use the path length"},
        Setting{"path_steps_most", &S::path_steps_most, between(0, 1e6),
                "largest number of steps, drawn uniformly from path_steps to this; 0 to fix it"},
        Setting{"max_steps", &S::max_steps, between(1, 1e6),
                "maximum number of steps of a path, whatever the step size"},
        Setting{"max_energy_error", &S::max_energy_error, positive_finite(),
                "a step whose energy error exceeds this is a divergence"},
        Setting{"weight_by_draws", &S::weight_by_draws, between(0, 1),
                "give every draw the same weight in recycled estimates, not every state"},
        Setting{"momentum_kept",
                &S::momentum_kept,
                {.least = 0, .most = 1, .open_above = true},
                "kernel hmc: share of the momentum that the next draw keeps; 0 draws it afresh"},
        Setting{"window", &S::window, between(0, 5e5),
                "kernel windows: states in each window; 0 for a quarter of the path's states"}};
  }
};

struct KernelSettings {
  KernelKind kind = KernelKind::nuts;
  Recycling recycling;
  NutsSettings nuts;
  HmcSettings hmc;

  /// Throws ConfigError that names the setting, the value and the remedy.
  void check() const;
  /// Whether draws may differ in mass: those of paths of random length, by Theorem 2 of Nishimura &
  /// Dunson (2020).
  bool masses_differ() const;
};

/// A state that a transition visited.
struct VisitedState {
  StateView state;
  std::int64_t place = 0;   ///< steps from the start; negative: backward in time
  double weight = 0;        ///< within the trajectory; 0 if dropped
  std::uint32_t slots = 0;  ///< how many of the recycled states are this one
  bool dropped = false;     ///< part of a half that was dropped, or where a step diverged
  bool selected = false;    ///< the next state of the chain
};

/// What one transition yields. Views are valid until the kernel's next transition.
struct Transition {
  StateView state;                          ///< the next state of the chain
  std::span<const WeightedState> recycled;  ///< what recycling kept; weights sum to 1
  FeatureMeans feature_means;  ///< weighted means over all states, if features are in use
  /// Weight of this draw among the draws. It may depend on the length of a path, which is drawn
  /// independently of the state: Theorem 4, eqs. (A.1), (A.2) and (A.3), of Nishimura & Dunson
  /// (2020).
  double mass = 1;
  double acceptance = 0;  ///< mean acceptance probability over the trajectory (HMC: of its end)
  double step_size = 0;
  double energy = 0;        ///< H of the next state in this trajectory
  double energy_error = 0;  ///< H of the next state less H of the start
  double path_length = 0;   ///< steps times step size
  int depth = 0;            ///< doublings that were kept; 0 for HMC
  std::uint32_t leapfrogs = 0;
  Ending ending = Ending::completed;
  Divergence divergence;                  ///< meaningful if ending is Ending::diverged
  std::span<const VisitedState> visited;  ///< in path order, if visits are recorded
};

/// A Markov kernel and the chain's current state. Its randomness comes from the address alone.
class Kernel {
 public:
  virtual ~Kernel() = default;
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// Puts the chain at a position; ModelError if the density or its gradient is not finite there.
  virtual void set_position(std::span<const double> position) = 0;
  virtual StateView state() const = 0;

  /// Stores the chain's state with its log density and gradient, and the guard's counts; what is
  /// restored continues with the same bits, as if nothing had happened. DataError if the dimension
  /// differs.
  virtual void archive(ArchiveWriter& archive) const = 0;
  virtual void archive(ArchiveReader& archive) = 0;

  /// From now on, sums these features over all states of every trajectory; nullptr for none.
  virtual void use_features(const Features* features) = 0;

  /// From now on, records every state that a transition visits, or no longer.
  virtual void record_visits(bool record) = 0;

  virtual const Transition& transition(const Tuning& tuning, const Address& address) = 0;

  /// Energy gained by one step of this size from the current state, with a momentum from the
  /// stream; +inf if the model fails there, NaN if the step is too short to change the position at
  /// all. For the search of a first step size.
  virtual double one_step_energy_error(const Tuning& tuning, Stream& stream) = 0;

  virtual const Guard& guard() const = 0;
  virtual const KernelSettings& settings() const = 0;
};

/// A kernel whose tuning can no longer change: warmup returns it, sampling runs it.
class FrozenKernel {
 public:
  FrozenKernel(std::unique_ptr<Kernel> kernel, Tuning tuning)
      : kernel_(std::move(kernel)), tuning_(std::move(tuning)) {}

  const Transition& transition(const Address& address) {
    return kernel_->transition(tuning_, address);
  }
  void use_features(const Features* features) { kernel_->use_features(features); }
  StateView state() const { return kernel_->state(); }
  const Tuning& tuning() const { return tuning_; }
  const Guard& guard() const { return kernel_->guard(); }
  const Kernel& kernel() const { return *kernel_; }

 private:
  std::unique_ptr<Kernel> kernel_;
  Tuning tuning_;
};

/// Makes the kernel that the settings name.
std::unique_ptr<Kernel> make_kernel(Density density, const KernelSettings& settings);

}  // namespace rehmc
