// Private to adapt/: what a doubling tree costs at other step sizes than those tried.
#pragma once

#include <span>
#include <vector>

#include "rehmc/adapt/acceptance_curve.hpp"

namespace rehmc {

/// The leapfrogs of a doubling tree as a function of the step size e, from trials at various e. A
/// tree grows until it is as long as the time at which its trajectory turns. A tree whose last
/// doubling was number j thus tells that this time lies between (2^{j-1} - 1) e and (2^j - 1) e. We
/// take the time to be lognormal, and average over all its parameters on a grid, by their
/// likelihood: where the trials do not tell the cost, it changes slowly with e.
class TreeCost {
 public:
  /// Trials without leapfrogs are left out; `max_depth` is the one they were run with.
  TreeCost(std::span<const StepTrial> trials, int max_depth);

  /// Whether there were any trials.
  bool known() const { return !times_.empty(); }
  /// Expected leapfrogs.
  double leapfrogs(double step_size) const;

 private:
  struct Time {
    double log_median;
    double sd;  ///< of the logarithm
    double weight;
  };
  std::vector<Time> times_;
  int max_depth_;
};

/// Trials are spread over these factors on the step size, and so are candidates. Where 0.8 is
/// asked, acceptance is thus between 0.62 and 0.87; 0.65 is the best for long trajectories in many
/// dimensions (Beskos et al. 2013).
inline constexpr double least_step_factor = 0.8;
inline constexpr double most_step_factor = 1.4;

struct StepRequest {
  double fitted = 1;        ///< the step size with this acceptance
  double acceptance = 0.8;  ///< the one asked for
  /// No longer than the fitted step, and the shortest of those that are worth nearly the same:
  /// where a density varies in scale, long steps diverge in narrow places.
  bool cautious = false;
};

/// The step size near the fitted one that is worth the most per gradient. Efficiency is
/// a^p / leapfrogs with acceptance a on the curve of fit_step_size; p is such that the fitted step
/// is best if the cost is in proportion to 1 / e. Leapfrogs of a tree are not, they jump from
/// 2^j - 1 to 2^{j+1} - 1 as e falls, and just below such a boundary half of them are wasted.
double most_efficient_step_size(const StepRequest& request, const TreeCost& cost);

}  // namespace rehmc
