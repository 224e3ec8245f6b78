// The door for schemes of users: whatever yields several states per draw, rehmc recycles them.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rehmc/core/archive.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/core/state.hpp"
#include "rehmc/dynamics/tuning.hpp"
#include "rehmc/kernel/register_kernel.hpp"

namespace rehmc {

class MultiSteps;

/// One transition of a scheme, as the scheme sees it. States have places: 0 is where the chain is,
/// the others are numbered as they are evaluated.
///
/// A scheme says what to recycle in one of two ways. By weights: a state drawn by them, given where
/// the chain is and whatever else was drawn, leaves the target invariant. Or by proposals: each of
/// them, accepted with its own probability or else answered by the place where the chain is, leaves
/// the target invariant by itself. Then averages over all of them converge to the target: Theorem 3
/// of Nishimura & Dunson (2020), and Theorem 4 if their number varies, which it may do only
/// independently of where the chain is. The move of the chain must leave the target invariant too;
/// it may share random numbers with what is recycled.
class MultiStep {
 public:
  using Place = std::size_t;
  static constexpr Place start = 0;

  /// A scheme takes it by reference: what a copy is told would be lost.
  MultiStep(const MultiStep&) = delete;
  MultiStep& operator=(const MultiStep&) = delete;

  /// Step size and metric: what warmup adapts to the acceptance.
  const Tuning& tuning() const { return *tuning_; }
  /// The random numbers of this transition.
  Stream& random() { return random_; }

  /// Evaluates the density at a position. Where the model fails or has no density, the state has a
  /// log density of -inf, and its gradient is unspecified.
  Place evaluate(std::span<const double> position);
  /// Position, gradient and log density; valid until the transition ends.
  StateView state(Place place) const;

  /// Recycles the state with a weight, of which this is the logarithm up to a constant. Every
  /// state without one has weight 0, also the start.
  void weigh(Place place, double log_weight);
  /// Recycles the state as a proposal that is valid by itself. NaN counts as 0.
  void propose(Place place, double acceptance);
  /// Moves the chain. Without this it stays at the start.
  void move_to(Place place);
  /// What the step size is adapted to; otherwise the mean over proposals, or 1 less the weight of
  /// the start.
  void set_acceptance(double acceptance) { acceptance_ = acceptance; }

 private:
  friend class MultiSteps;
  struct Recorded {
    Place place;
    double value;
  };

  explicit MultiStep(MultiSteps& steps) : steps_(steps), random_(Address{}, Purpose::selection) {}

  MultiSteps& steps_;
  const Tuning* tuning_ = nullptr;
  Stream random_;
  std::vector<Recorded> weights_;  ///< logarithms
  std::vector<Recorded> proposals_;
  Place next_ = start;
  std::optional<double> acceptance_;
};

/// A scheme: `transition(step)` makes one transition. It depends on the step alone; a scheme that
/// remembers more from draw to draw has `template <class A> void archive(A&)`, so that checkpoints
/// hold it. Each chain has a copy of its own.
template <class S>
concept MultiKernel = std::copy_constructible<S> && requires(S& scheme, MultiStep& step) {
  scheme.transition(step);
};

/// A scheme behind virtual functions.
class MultiScheme {
 public:
  virtual ~MultiScheme() = default;
  virtual void transition(MultiStep& step) = 0;
  virtual void archive(ArchiveWriter& archive) const = 0;
  virtual void archive(ArchiveReader& archive) = 0;
};

template <MultiKernel S>
class ErasedScheme final : public MultiScheme {
 public:
  explicit ErasedScheme(S scheme) : scheme_(std::move(scheme)) {}
  void transition(MultiStep& step) override { scheme_.transition(step); }
  void archive(ArchiveWriter& archive) const override {
    if constexpr (remembers) archive(scheme_);
  }
  void archive(ArchiveReader& archive) override {
    if constexpr (remembers) archive(scheme_);
  }

 private:
  static constexpr bool remembers = requires(S & scheme, ArchiveReader& archive) {
    scheme.archive(archive);
  };
  S scheme_;
};

/// The kernel that runs a scheme.
std::unique_ptr<Kernel> make_multi_kernel(std::unique_ptr<MultiScheme> scheme, Density density,
                                          const KernelSettings& settings);

/// What a scheme yields: with proposals, the recyclers `accept-each` and `stride` can be used too.
enum class MultiYield { weights, proposals };

/// Registers a scheme: from now on `name` is a kernel, with every recycler, warmup, error bars,
/// sharpening, files and resume.
template <MultiKernel S>
KernelKind register_multi_kernel(const std::string& name, S scheme,
                                 MultiYield yield = MultiYield::weights) {
  return register_kernel({.name = name,
                          .make =
                              [scheme](Density density, const KernelSettings& settings) {
                                return make_multi_kernel(std::make_unique<ErasedScheme<S>>(scheme),
                                                         std::move(density), settings);
                              },
                          .traits = {.shape = TrajectoryShape::path,
                                     .settings = SettingsGroup::own,
                                     .accepts_each_step = yield == MultiYield::proposals}});
}

}  // namespace rehmc
