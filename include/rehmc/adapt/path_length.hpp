// The path length of HMC with the greatest jumps for their cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/kernel/kernel.hpp"

namespace rehmc {

/// What is maximised over the number of steps l, with a_l the acceptance probability and x_l the
/// position after l steps.
enum class JumpRule {
  squared,  ///< E a_l |x_l - x_0|^2 / l: expected squared jump per gradient (Wang, Mohamed, de
            ///< Freitas 2013)
  plain,    ///< E a_l |x_l - x_0| / sqrt(l): as printed in section 5 of Nishimura & Dunson (2020)
};

/// Jumps after every number of steps up to that of the paths: one path shows all of them, since its
/// first l steps are a path of l steps.
class PathJumps {
 public:
  explicit PathJumps(std::size_t steps) : squared_(steps + 1), plain_(steps + 1) {}

  /// A path of this many steps whose visits were recorded. Distances are in units of the metric.
  void add(const Transition& path, const Metric& metric);

  std::size_t steps() const { return squared_.size() - 1; }
  /// The number of steps with the best value; 1 if no path got anywhere.
  std::size_t best(JumpRule rule = JumpRule::squared) const;

 private:
  std::vector<double> squared_;  ///< sums over paths, by the number of steps
  std::vector<double> plain_;
};

struct FoundPathLength {
  double path_length = 0;  ///< steps times step size
  std::uint64_t gradients = 0;
};

/// Takes paths from a position with fixed tuning, and makes them longer until the best number of
/// steps is well within: at most `max_steps` of the settings. The address must be of no other use.
FoundPathLength find_path_length(const Density& density, const KernelSettings& settings,
                                 const Tuning& tuning, std::span<const double> position,
                                 const Address& address);

}  // namespace rehmc
