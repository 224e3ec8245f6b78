// NUTS: doubling trees of leapfrog steps, with slice or multinomial weights.
#include "makers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "phase_space.hpp"
#include "rehmc/trajectory/tree.hpp"

namespace rehmc {

namespace {

/// Turning by momentum sums (Betancourt 2017, appendix A.4.2), with the two checks across the joint
/// that Stan added: with S the sum of the momenta over a run, the velocities at its two ends must
/// point along S; the same for the left run with the first state of the right one, and for the
/// right run with the last state of the left one.
///
/// A run keeps the momenta of its ends and their sum; one state shares one buffer for both ends,
/// and up to two states the sum is not written at all.
struct SumTurning {
  struct End {
    MomentumHandle momentum;
    double square;   ///< p' M^{-1} p
    double run_sum;  ///< p' M^{-1} S
  };
  struct Run {
    End first;
    End last;
    MomentumHandle sum;
    std::uint32_t size;
  };

  static Run leaf(PhaseSpace&, const PhasePoint& point) {
    const double square = 2 * point.kinetic_energy;
    const End end{point.momentum, square, square};
    return {end, end, point.momentum, 1};
  }

  static bool join(PhaseSpace& space, Run& left, Run& right, double) {
    const JoinProducts across = join_sums(space, left, right);
    const double first_whole = left.first.run_sum + across.left_first_right_sum;
    const double last_whole = right.last.run_sum + across.right_last_left_sum;
    const double first_left = left.first.run_sum + across.firsts;
    const double joint_left = right.first.square + across.right_first_left_sum;
    const double joint_right = left.last.square + across.left_last_right_sum;
    const double last_right = right.last.run_sum + across.lasts;
    left.first.run_sum = first_whole;
    left.last = {right.last.momentum, right.last.square, last_whole};
    left.size += right.size;
    return !(first_whole > 0 && last_whole > 0 && first_left > 0 && joint_left > 0 &&
             joint_right > 0 && last_right > 0);
  }

  static void release(PhaseSpace& space, Run& run) {
    space.momenta->release(run.first.momentum);
    if (run.size > 1) space.momenta->release(run.last.momentum);
    if (run.size > 2) space.momenta->release(run.sum);
  }

 private:
  /// The products across the joint. Afterwards the left run has the sum of both, and the momenta at
  /// the joint are released. Runs that are joined have the same size.
  static JoinProducts join_sums(PhaseSpace& space, Run& left, Run& right) {
    const auto data = [&](MomentumHandle handle) { return space.momentum(handle); };
    const Metric& metric = space.metric();
    if (left.size == 1) {
      const double product =
          metric.inner_product(data(left.first.momentum), data(right.first.momentum));
      return {product, product, product, product, product, product};
    }
    const RunMomenta of_left{data(left.first.momentum), data(left.last.momentum), data(left.sum)};
    const RunMomenta of_right{data(right.first.momentum), data(right.last.momentum),
                              data(right.sum)};
    JoinProducts products;
    if (left.size == 2) {
      left.sum = space.momenta->take();
      products = metric.join_pairs(of_left, of_right, data(left.sum));
    } else {
      products = metric.join(of_left, of_right, data(left.sum));
      space.momenta->release(right.sum);
    }
    space.momenta->release(left.last.momentum);
    space.momenta->release(right.first.momentum);
    return products;
  }
};

/// Turning by the distance of the ends (Hoffman & Gelman 2014, eq. 9): (x+ - x-) . p at both ends.
struct DistanceTurning {
  struct Run {
    PhasePoint first;
    PhasePoint last;
    bool single() const { return first.momentum == last.momentum; }
  };

  static Run leaf(PhaseSpace& space, const PhasePoint& point) {
    space.states.retain(point.state);
    return {point, point};
  }

  static bool join(PhaseSpace& space, Run& left, Run& right, double sign) {
    if (!left.single()) release_point(space, left.last);
    if (!right.single()) release_point(space, right.first);
    left.last = right.last;
    const double* x_first = space.states.position(left.first.state);
    const double* x_last = space.states.position(left.last.state);
    const double* p_first = space.momentum(left.first.momentum);
    const double* p_last = space.momentum(left.last.momentum);
    double at_first = 0;
    double at_last = 0;
#pragma omp simd reduction(+ : at_first, at_last)
    for (std::size_t i = 0; i < space.dimension(); ++i) {
      const double reach = x_last[i] - x_first[i];
      at_first += reach * p_first[i];
      at_last += reach * p_last[i];
    }
    // In a half that grows backward the last state is the earliest in time.
    return !(sign * at_first >= 0 && sign * at_last >= 0);
  }

  static void release(PhaseSpace& space, Run& run) {
    const bool single = run.single();
    release_point(space, run.first);
    if (!single) release_point(space, run.last);
  }

 private:
  static void release_point(PhaseSpace& space, const PhasePoint& point) {
    space.states.release(point.state);
    space.momenta->release(point.momentum);
  }
};

/// A leaf weighs exp(H0 - H); it diverges when it loses too much energy against the start.
struct MultinomialRule {
  double max_energy_error;
  Weight weight(double energy_error) const { return multinomial_weight(energy_error); }
  bool diverges(double energy_error) const { return !(energy_error <= max_energy_error); }
};

/// A leaf counts if it lies above the slice; it diverges when it lies too far below (Hoffman &
/// Gelman 2014, Algorithm 3: log u - Delta_max against the log density of the leaf).
struct SliceRule {
  double max_energy_error;
  double log_uniform;  ///< log u + H0
  Weight weight(double energy_error) const { return slice_weight(energy_error, log_uniform); }
  bool diverges(double energy_error) const {
    return !(-energy_error > log_uniform - max_energy_error);
  }
};

/// The walk of trajectory/tree.hpp along leapfrog steps.
template <class Turning, class Rule>
class LeapfrogWalk {
 public:
  using State = StateHandle;
  using Run = typename Turning::Run;

  LeapfrogWalk(PhaseSpace& space, const PhasePoint& start, const Rule& rule)
      : space_(space),
        rule_(rule),
        start_energy_(space.states.energy(start.state)),
        ends_{Front{start}, Front{start}} {
    space_.states.retain(start.state);
    space_.states.retain(start.state);
  }

  void begin_half(Direction direction) {
    direction_ = direction;
    Front& end = ends_[direction == Direction::forward];
    front_ = end;
    space_.states.retain(end.point.state);
    end.next.reset();  // it is the front's now
  }

  Leaf<State> step() {
    Front to = space_.step(front_, sign() * space_.step_size());
    const double energy_error = space_.states.energy(to.point.state) - start_energy_;
    ++leapfrogs_;
    if (rule_.diverges(energy_error)) {
      acceptance_sum_ += std::isnan(energy_error) ? 0.0 : std::min(1.0, std::exp(-energy_error));
      space_.keep_divergence(front_.point, to, direction_);
      return {to.point.state, {}, true};
    }
    const Weight weight = rule_.weight(energy_error);
    acceptance_sum_ += acceptance(weight, energy_error);
    space_.states.release(front_.point.state);
    front_ = to;
    return {to.point.state, weight, false};
  }

  Run run_of_last_step() { return Turning::leaf(space_, front_.point); }
  bool join(Run& run, Run& next) { return Turning::join(space_, run, next, sign()); }
  void reverse(Run& run) { std::swap(run.first, run.last); }
  void release(Run& run) { Turning::release(space_, run); }

  void keep_half() {
    Front& end = ends_[direction_ == Direction::forward];
    space_.release(end);
    end = front_;
  }
  void drop_half() { space_.release(front_); }

  /// Lets go of the two ends.
  void finish() {
    for (Front& end : ends_) space_.release(end);
  }

  std::uint32_t leapfrogs() const { return leapfrogs_; }
  double acceptance() const { return acceptance_sum_ / std::max(1U, leapfrogs_); }

 private:
  double sign() const { return static_cast<double>(direction_); }

  static double acceptance(const Weight& weight, double energy_error) {
    if constexpr (std::same_as<Rule, MultinomialRule>) {
      return weight.log_scale > 0 ? 1.0 : std::min(1.0, weight.value);
    } else {
      return std::min(1.0, std::exp(-energy_error));
    }
  }

  PhaseSpace& space_;
  Rule rule_;
  double start_energy_;
  std::array<Front, 2> ends_;  ///< backward, forward
  Front front_{};
  Direction direction_ = Direction::forward;
  std::uint32_t leapfrogs_ = 0;
  double acceptance_sum_ = 0;
};

/// Draws which state is selected.
class DrawnSelection {
 public:
  using Selected = StateHandle;
  DrawnSelection(StatePool& states, const Address& address)
      : states_(states), stream_(address, Purpose::selection) {}

  Selected leaf(StateHandle state) {
    states_.retain(state);
    return state;
  }
  // No branch: which of two equally good states is selected cannot be predicted.
  void choose(Selected& selected, Selected& candidate, double probability) {
    const bool take = stream_.uniform() < probability;
    const Selected loser = take ? selected : candidate;
    selected = take ? candidate : selected;
    states_.release(loser);
  }
  void release(Selected& selected) { states_.release(selected); }

 private:
  StatePool& states_;
  Stream stream_;
};

template <class Turning, class Rule>
class Nuts final : public HamiltonianKernel {
 public:
  Nuts(Density density, const KernelSettings& settings)
      : HamiltonianKernel(std::move(density), settings) {
    stack_.reserve(static_cast<std::size_t>(settings.nuts.max_depth) + 1);
  }

  const Transition& transition(const Tuning& tuning, const Address& address) override {
    const PhasePoint start = begin_transition(tuning, address);
    const double start_energy = space_.states.energy(start.state);
    LeapfrogWalk<Turning, Rule> walk(space_, start, rule(address));
    DrawnSelection selection(space_.states, address);
    const std::uint64_t directions = Stream(address, Purpose::direction).bits();

    Subtree<typename Turning::Run, StateHandle> tree{Turning::leaf(space_, start),
                                                     selection.leaf(start.state), 1.0};
    TreeOutcome outcome;
    with_keeper([&](auto& keeper) {
      keeper.start(start.state, 1.0);
      Tree grower(stack_, walk, selection, keeper);
      outcome = grower.grow(tree, directions, settings_.nuts.max_depth);
    });

    Turning::release(space_, tree.run);
    walk.finish();

    record_.ending = outcome.ending;
    record_.depth = outcome.depth;
    record_.leapfrogs = walk.leapfrogs();
    record_.acceptance = walk.acceptance();
    record_.path_length = walk.leapfrogs() * tuning.step_size;
    return finish_transition(tree.selected, start_energy);
  }

 private:
  Rule rule(const Address& address) const {
    if constexpr (std::same_as<Rule, SliceRule>) {
      return {settings_.nuts.max_energy_error, std::log(Stream(address, Purpose::slice).uniform())};
    } else {
      return {settings_.nuts.max_energy_error};
    }
  }

  std::vector<Subtree<typename Turning::Run, StateHandle>> stack_;
};

}  // namespace

std::unique_ptr<Kernel> make_multinomial_nuts(Density density, const KernelSettings& settings) {
  return std::make_unique<Nuts<SumTurning, MultinomialRule>>(std::move(density), settings);
}

std::unique_ptr<Kernel> make_slice_nuts(Density density, const KernelSettings& settings) {
  return std::make_unique<Nuts<DistanceTurning, SliceRule>>(std::move(density), settings);
}

}  // namespace rehmc
