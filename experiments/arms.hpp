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
  accept_each,  ///< HMC: every step accepted or rejected on its own (Algorithm 1)
};
std::string describe(Family family);

struct Arm {
  Family family = Family::plain;
  std::size_t count = 1;  ///< K

  bool operator==(const Arm&) const = default;
};

/// plain and all first, then the families for K up to `most`; `paper_count` is among those of
/// final_state.
std::vector<Arm> arms_of(KernelKind kind, std::size_t paper_count, std::size_t most);

/// A state of a trajectory that an arm uses, and its weight; the weights of an arm sum to 1.
struct Share {
  std::size_t state;
  double weight;
};

/// Gives every arm its states of a trajectory. Random choices use the stream of recycling, which a
/// kernel that keeps all states does not use.
class ArmShares {
 public:
  explicit ArmShares(std::vector<Arm> arms) : arms_(std::move(arms)), shares_(arms_.size()) {}

  const std::vector<Arm>& arms() const { return arms_; }

  /// The trajectory has these states with weights that sum to 1, in the order of the path.
  /// `next` is the state the chain went to, `start` the one it came from, or past the last if the
  /// trajectory no longer lists it; `steps` is the length of the path.
  void share(std::span<const WeightedState> states, std::size_t next, std::size_t start,
             std::size_t steps, const Address& address);

  std::span<const Share> of(std::size_t arm) const { return shares_[arm]; }
  /// The states that enter an arm's histogram: its own; for `all` in a long trajectory only
  /// `most_in_histogram` evenly spread ones, because neighbours add little.
  std::span<const Share> for_histogram(std::size_t arm) const {
    return arms_[arm].family == Family::all ? histogram_ : shares_[arm];
  }
  static constexpr std::size_t most_in_histogram = 64;

 private:
  void spread(std::size_t count, double weight, Stream& stream, std::vector<Share>& shares) const;
  static void draw(std::span<const WeightedState> states, std::size_t count, Stream& stream,
                   std::vector<Share>& shares);
  static void accept_each(std::span<const WeightedState> states, std::size_t start,
                          std::size_t steps, Stream& stream, std::vector<Share>& shares);

  std::vector<Arm> arms_;
  std::vector<std::vector<Share>> shares_;
  std::vector<Share> histogram_;
  std::vector<double> cumulative_;  ///< weights along the path
};

}  // namespace rehmc::experiments
