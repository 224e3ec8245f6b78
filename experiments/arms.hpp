// Arms: the ways to use the states of one trajectory that are compared on the same chains.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/core/state.hpp"
#include "rehmc/kernel/kernel.hpp"

namespace rehmc::experiments {

enum class Family {
  plain,        ///< the final state alone
  all,          ///< every state with its weight
  spread,       ///< K evenly spread states
  final_state,  ///< the final state and K - 1 evenly spread ones, as the paper counts
  simple,       ///< K states drawn at random (Nishimura & Dunson 2020, Algorithm 2)
  /// HMC as in the paper: the last step of a path and every K-th before it, each accepted or
  /// rejected on its own (Algorithm 1), and all recycled states with equal weights (Theorem 2).
  /// Where K is 1, all steps.
  stride,
  by_draw,  ///< HMC: every state with its weight, and every draw with the same mass
};
std::string describe(Family family);

struct Arm {
  Family family = Family::plain;
  std::size_t count = 1;  ///< K; of `stride`, the distance

  bool operator==(const Arm&) const = default;
};

/// plain and all first, then the families for K up to `most`; the paper's number is among those of
/// the family that it used: final_state, where the kernel accepts its steps one by one stride.
std::vector<Arm> arms_of(KernelKind kind, std::size_t paper_count, std::size_t most);
Family paper_family(KernelKind kind);

/// A state of a trajectory that an arm uses, and its weight; the weights of an arm sum to 1.
struct Share {
  std::size_t state;
  double weight;
};

/// Gives every arm its states of a trajectory. Random choices use the stream of recycling, which a
/// kernel that keeps all states does not use.
class ArmShares {
 public:
  explicit ArmShares(std::vector<Arm> arms)
      : arms_(std::move(arms)), shares_(arms_.size()), masses_(arms_.size(), 1) {}

  const std::vector<Arm>& arms() const { return arms_; }

  /// A trajectory, whose states are in the order of the path.
  struct Draw {
    std::span<const WeightedState> states;  ///< weights sum to 1
    std::size_t next = 0;                   ///< the state the chain went to
    /// The state the chain came from; past the last if the trajectory no longer lists it.
    std::size_t start = 0;
    std::size_t steps = 0;  ///< of the path
    double mass = 1;        ///< of the draw among the draws (Theorem 2)
  };
  void share(const Draw& draw, const Address& address);

  std::span<const Share> of(std::size_t arm) const { return shares_[arm]; }
  /// What the draw counts among the draws of this arm.
  double mass(std::size_t arm) const { return masses_[arm]; }
  /// The states that enter an arm's histogram: its own; of all states of a long trajectory only
  /// `most_in_histogram` evenly spread ones, because neighbours add little.
  std::span<const Share> for_histogram(std::size_t arm) const {
    const Family family = arms_[arm].family;
    const bool everything = family == Family::all || family == Family::by_draw;
    return everything && !histogram_.empty() ? histogram_ : shares_[arm];
  }
  static constexpr std::size_t most_in_histogram = 64;

 private:
  void spread(std::size_t count, double weight, Stream& stream, std::vector<Share>& shares) const;
  static void draw_some(std::span<const WeightedState> states, std::size_t count, Stream& stream,
                        std::vector<Share>& shares);
  /// Returns how many states were recycled.
  static std::size_t stride(const Draw& draw, std::size_t distance, Stream& stream,
                            std::vector<Share>& shares);

  std::vector<Arm> arms_;
  std::vector<std::vector<Share>> shares_;
  std::vector<double> masses_;
  std::vector<Share> histogram_;
  std::vector<double> cumulative_;  ///< weights along the path
};

}  // namespace rehmc::experiments
