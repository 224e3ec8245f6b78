// NUTS and HMC paths with every state stored, written from the papers, to compare with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/core/state.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/trajectory/ending.hpp"

namespace rehmc::testing {

// Only the density, the random streams and the names of endings and settings are shared with the
// library: no pools, no stack of subtrees, no running sums, no scaled weights.

struct ReferenceState {
  std::vector<double> position;
  std::vector<double> gradient;
  std::vector<double> momentum;
  double log_density = 0;
  double energy = 0;
  double log_weight = 0;  ///< against the start; -inf for a state that cannot be chosen

  StateView view() const { return {position, gradient, log_density}; }
};

inline double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// A density and how to move on it: p ~ N(0, M) with diagonal M^{-1}, and leapfrog steps.
struct ReferenceSystem {
  Density density;
  std::vector<double> inverse_mass;
  double step_size = 1;

  /// The start of a trajectory, with the momentum that belongs to the address.
  ReferenceState begin(std::span<const double> position, const Address& address) {
    ReferenceState start;
    start.position.assign(position.begin(), position.end());
    start.momentum.resize(position.size());
    Stream(address, Purpose::momentum).fill_normal(start.momentum);
    for (std::size_t i = 0; i < position.size(); ++i) {
      start.momentum[i] /= std::sqrt(inverse_mass[i]);
    }
    evaluate(start);
    return start;
  }

  /// Half a kick, a drift, half a kick (eq. (1.2) of Nishimura & Dunson 2020); direction is +1 or
  /// -1.
  ReferenceState step(const ReferenceState& from, int direction) {
    ReferenceState to = from;
    const double step = direction * step_size;
    for (std::size_t i = 0; i < to.position.size(); ++i) {
      to.momentum[i] += 0.5 * step * from.gradient[i];
      to.position[i] += step * (inverse_mass[i] * to.momentum[i]);
    }
    evaluate(to);
    for (std::size_t i = 0; i < to.position.size(); ++i) {
      to.momentum[i] += 0.5 * step * to.gradient[i];
    }
    set_energy(to);
    return to;
  }

  double energy_of(const ReferenceState& state) const {
    return std::isinf(state.log_density)
               ? std::numeric_limits<double>::infinity()
               : 0.5 * dot(state.momentum, velocity(state)) - state.log_density;
  }

  std::vector<double> velocity(const ReferenceState& state) const {
    std::vector<double> result = state.momentum;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] *= inverse_mass[i];
    return result;
  }

 private:
  /// An error of the model counts as a density of zero.
  void evaluate(ReferenceState& state) {
    state.gradient.assign(state.position.size(), 0.0);
    const auto finite = [](double x) { return std::isfinite(x); };
    try {
      state.log_density = density(state.position, state.gradient);
    } catch (...) {
      state.log_density = -infinity;
    }
    if (!finite(state.log_density) ||
        !std::all_of(state.gradient.begin(), state.gradient.end(), finite)) {
      state.log_density = -infinity;
    }
    set_energy(state);
  }

  void set_energy(ReferenceState& state) const { state.energy = energy_of(state); }
};

/// A step that diverged.
struct ReferenceDivergence {
  ReferenceState start;
  ReferenceState end;
  int direction;  ///< of the step: +1 or -1
};

/// One whole transition with everything it visited.
struct ReferenceTrajectory {
  std::vector<ReferenceState> committed;  ///< in the order of the path
  std::vector<ReferenceState> dropped;    ///< of the half that was dropped, except a divergent end
  ReferenceState start;
  ReferenceState next;
  Ending ending = Ending::depth_limit;
  int depth = 0;
  std::uint32_t leapfrogs = 0;
  double acceptance = 0;  ///< mean of min(1, exp(H0 - H)) over all steps
  std::optional<ReferenceDivergence> divergence;

  /// The weights of the committed states, summing to 1.
  std::vector<double> weights() const {
    std::vector<double> result;
    double most = -std::numeric_limits<double>::infinity();
    for (const auto& state : committed) most = std::max(most, state.log_weight);
    double sum = 0;
    for (const auto& state : committed) {
      sum += result.emplace_back(std::exp(state.log_weight - most));
    }
    for (double& weight : result) weight /= sum;
    return result;
  }
};

/// What both kinds of NUTS share: the random numbers of an address and the count of steps.
class ReferenceNuts {
 public:
  ReferenceNuts(ReferenceSystem& system, const NutsSettings& settings, const Address& address)
      : system_(system),
        settings_(settings),
        directions_(Stream(address, Purpose::direction).bits()),
        selection_(address, Purpose::selection) {}

 protected:
  struct Subtree {
    std::vector<ReferenceState> path;  ///< in the order of time, whichever way it grew
    std::size_t chosen = 0;
    double weight = 0;           ///< slice: n' of the pseudocode; multinomial: log of the sum
    std::optional<Ending> stop;  ///< why it may not be used
  };

  int direction(int depth) const { return (directions_ >> depth) & 1U ? 1 : -1; }

  /// One number for every merge, even where the outcome is certain.
  bool coin(double probability) { return selection_.uniform() < probability; }

  ReferenceState step_from_end(const std::vector<ReferenceState>& path, int v) {
    const ReferenceState& from = v == 1 ? path.back() : path.front();
    ReferenceState to = system_.step(from, v);
    ++trajectory_.leapfrogs;
    trajectory_.acceptance += std::min(1.0, std::exp(trajectory_.start.energy - to.energy));
    return to;
  }

  Subtree diverged(const std::vector<ReferenceState>& path, int v, ReferenceState end) {
    trajectory_.divergence = {v == 1 ? path.back() : path.front(), std::move(end), v};
    Subtree nothing;
    nothing.stop = Ending::diverged;
    return nothing;
  }

  /// Appends what comes after it in direction v.
  static void extend(std::vector<ReferenceState>& path, const std::vector<ReferenceState>& more,
                     int v) {
    path.insert(v == 1 ? path.end() : path.begin(), more.begin(), more.end());
  }

  ReferenceTrajectory finish(std::vector<ReferenceState> path, Ending ending) {
    trajectory_.committed = std::move(path);
    trajectory_.ending = ending;
    trajectory_.acceptance /= trajectory_.leapfrogs;
    return std::move(trajectory_);
  }

  ReferenceSystem& system_;
  NutsSettings settings_;
  std::uint64_t directions_;
  Stream selection_;
  ReferenceTrajectory trajectory_;
};

/// Algorithm 3 of Hoffman & Gelman (2014), line by line, with a maximum depth. In their inner
/// products r stands for M^{-1/2} p and theta for M^{1/2} x, so theta . r is x . p.
class ReferenceSliceNuts : private ReferenceNuts {
 public:
  ReferenceSliceNuts(ReferenceSystem& system, const NutsSettings& settings, const Address& address)
      : ReferenceNuts(system, settings, address),
        log_uniform_(std::log(Stream(address, Purpose::slice).uniform())) {}

  ReferenceTrajectory run(ReferenceState start) {
    log_u_ = -start.energy + log_uniform_;
    trajectory_.start = start;
    trajectory_.next = start;
    std::vector<ReferenceState> path{std::move(start)};
    double n = 1;
    for (int j = 0; j < settings_.max_depth; ++j) {
      const int v = direction(j);
      Subtree half = build_tree(path, v, j);
      if (half.stop) {
        trajectory_.dropped = std::move(half.path);
        return finish(std::move(path), *half.stop);
      }
      if (coin(std::min(1.0, half.weight / n))) trajectory_.next = half.path[half.chosen];
      n += half.weight;
      extend(path, half.path, v);
      ++trajectory_.depth;
      if (turned(path)) return finish(std::move(path), Ending::turned);
    }
    return finish(std::move(path), Ending::depth_limit);
  }

 private:
  Subtree build_tree(const std::vector<ReferenceState>& from, int v, int j) {
    if (j == 0) {
      ReferenceState leaf = step_from_end(from, v);
      if (!(-leaf.energy > log_u_ - settings_.max_energy_error)) {
        return diverged(from, v, std::move(leaf));
      }
      const bool on_slice = log_u_ <= -leaf.energy;
      leaf.log_weight = on_slice ? 0 : -std::numeric_limits<double>::infinity();
      Subtree single;
      single.path.push_back(std::move(leaf));
      single.weight = on_slice ? 1 : 0;
      return single;
    }
    Subtree tree = build_tree(from, v, j - 1);
    if (tree.stop) return tree;
    const Subtree more = build_tree(tree.path, v, j - 1);
    const double n = tree.weight + more.weight;
    const bool take = !more.stop && coin(n > 0 ? more.weight / n : 0);
    const std::size_t offset = tree.path.size();
    extend(tree.path, more.path, v);
    if (v == 1) {
      tree.chosen = take ? offset + more.chosen : tree.chosen;
    } else {
      tree.chosen = take ? more.chosen : more.path.size() + tree.chosen;
    }
    tree.weight = n;
    tree.stop = more.stop;
    if (!tree.stop && turned(tree.path)) tree.stop = Ending::turned_inside;
    return tree;
  }

  /// Their eq. 9 at both ends.
  static bool turned(const std::vector<ReferenceState>& path) {
    std::vector<double> reach = path.back().position;
    for (std::size_t i = 0; i < reach.size(); ++i) reach[i] -= path.front().position[i];
    return !(dot(reach, path.front().momentum) >= 0 && dot(reach, path.back().momentum) >= 0);
  }

  double log_uniform_;
  double log_u_ = 0;
};

/// Multinomial NUTS as Stan has run it since its version 2.21: weights exp(H0 - H), within a half
/// the chosen state follows the weights, between halves the new one is favoured (Betancourt 2017,
/// appendix A.3), and no two adjacent subtrees may turn, neither as a whole nor across their joint.
class ReferenceMultinomialNuts : private ReferenceNuts {
 public:
  using ReferenceNuts::ReferenceNuts;

  ReferenceTrajectory run(ReferenceState start) {
    trajectory_.start = start;
    trajectory_.next = start;
    std::vector<ReferenceState> path{std::move(start)};
    double log_weight = 0;
    for (int depth = 0; depth < settings_.max_depth; ++depth) {
      const int v = direction(depth);
      Subtree half = build_tree(path, v, depth);
      if (half.stop) {
        trajectory_.dropped = std::move(half.path);
        return finish(std::move(path), *half.stop);
      }
      if (coin(std::exp(half.weight - log_weight))) trajectory_.next = half.path[half.chosen];
      log_weight = log_of_sum(log_weight, half.weight);
      const bool turns = v == 1 ? turned(path, half.path) : turned(half.path, path);
      extend(path, half.path, v);
      ++trajectory_.depth;
      if (turns) return finish(std::move(path), Ending::turned);
    }
    return finish(std::move(path), Ending::depth_limit);
  }

 private:
  Subtree build_tree(const std::vector<ReferenceState>& from, int v, int depth) {
    if (depth == 0) {
      ReferenceState leaf = step_from_end(from, v);
      const double energy_error = leaf.energy - trajectory_.start.energy;
      if (!(energy_error <= settings_.max_energy_error)) return diverged(from, v, std::move(leaf));
      leaf.log_weight = -energy_error;
      Subtree single;
      single.weight = leaf.log_weight;
      single.path.push_back(std::move(leaf));
      return single;
    }
    Subtree tree = build_tree(from, v, depth - 1);
    if (tree.stop) return tree;
    const Subtree more = build_tree(tree.path, v, depth - 1);
    const std::size_t offset = tree.path.size();
    const bool turns =
        !more.stop && (v == 1 ? turned(tree.path, more.path) : turned(more.path, tree.path));
    extend(tree.path, more.path, v);
    tree.stop = more.stop;
    if (tree.stop) return tree;
    const double both = log_of_sum(tree.weight, more.weight);
    const bool take = coin(std::exp(more.weight - both));
    if (v == 1) {
      tree.chosen = take ? offset + more.chosen : tree.chosen;
    } else {
      tree.chosen = take ? more.chosen : more.path.size() + tree.chosen;
    }
    tree.weight = both;
    if (turns) tree.stop = Ending::turned_inside;
    return tree;
  }

  static double log_of_sum(double a, double b) {
    const double most = std::max(a, b);
    return std::isinf(most) ? most : most + std::log(std::exp(a - most) + std::exp(b - most));
  }

  bool turned(const std::vector<ReferenceState>& left, const std::vector<ReferenceState>& right) {
    std::vector<ReferenceState> whole = left;
    whole.insert(whole.end(), right.begin(), right.end());
    const std::span states(whole);
    return turned(states) || turned(states.first(left.size() + 1)) ||
           turned(states.subspan(left.size() - 1));
  }

  /// The velocities at both ends against the sum of all momenta.
  bool turned(std::span<const ReferenceState> states) {
    std::vector<double> sum(states.front().momentum.size(), 0.0);
    for (const ReferenceState& state : states) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += state.momentum[i];
    }
    return !(dot(system_.velocity(states.front()), sum) > 0 &&
             dot(system_.velocity(states.back()), sum) > 0);
  }
};

/// A path of L steps from a start (Algorithm 1 of Nishimura & Dunson 2020).
struct ReferencePath {
  ReferenceState start;
  std::vector<ReferenceState> steps;  ///< z_1, z_2, ...; fewer than L if one diverged
  std::vector<double> acceptance;     ///< min(1, pi(z_k)/pi(z_0)) for k = 1 ... L, 0 if missing
  std::optional<ReferenceDivergence> divergence;

  /// The state that step k = 1 ... L contributes if its coin comes up with this number.
  const ReferenceState& accept(std::size_t k, double coin) const {
    return coin < acceptance[k - 1] ? steps[k - 1] : start;
  }
};

inline ReferencePath reference_path(ReferenceSystem& system, ReferenceState start,
                                    std::size_t length, double max_energy_error) {
  ReferencePath path;
  path.start = std::move(start);
  path.acceptance.assign(length, 0.0);
  for (std::size_t k = 0; k < length; ++k) {
    const ReferenceState& from = k == 0 ? path.start : path.steps.back();
    ReferenceState to = system.step(from, 1);
    const double energy_error = to.energy - path.start.energy;
    if (!(energy_error <= max_energy_error)) {
      path.divergence = {from, std::move(to), 1};
      break;
    }
    path.acceptance[k] = std::min(1.0, std::exp(-energy_error));
    path.steps.push_back(std::move(to));
  }
  return path;
}

/// The number of steps that belongs to the address, by the rules of HmcSettings.
inline std::size_t reference_path_steps(const HmcSettings& settings, double step_size,
                                        const Address& address) {
  Stream stream(address, Purpose::path_length);
  if (settings.path_steps > 0) {
    const int most = std::max(settings.path_steps, settings.path_steps_most);
    const std::uint64_t choices = static_cast<std::uint64_t>(most - settings.path_steps) + 1;
    return static_cast<std::size_t>(settings.path_steps) + stream.below(choices);
  }
  const double width = settings.jitter_most - settings.jitter_least;
  const double factor = settings.jitter_least + width * stream.uniform();
  return static_cast<std::size_t>(
      std::max(1.0, std::round(factor * settings.path_length / step_size)));
}

}  // namespace rehmc::testing
