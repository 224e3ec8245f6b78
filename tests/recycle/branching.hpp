// A random source that branches into all its outcomes, to test recyclers by enumeration.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/recycle/kept.hpp"
#include "tests/trajectory/integers.hpp"

namespace rehmc::exact {

/// Runs a program once for every sequence of outcomes of its random decisions, by replaying it.
class Explorer {
 public:
  struct Outcome {
    double value;
    double probability;
  };

  /// Calls `program()` once per sequence; `probability()` is then that of the current sequence.
  template <class Program>
  void explore(Program&& program) {
    size_ = 0;
    do {
      next_ = 0;
      probability_ = 1;
      program();
    } while (advance());
  }
  double probability() const { return probability_; }

  /// The value of the next decision. `outcomes(list)` writes its possible values; it is called
  /// only when the decision comes up for the first time.
  template <class Outcomes>
  double decide(Outcomes&& outcomes) {
    if (next_ == size_) {
      if (decisions_.size() == size_) decisions_.emplace_back();
      Decision& fresh = decisions_[size_++];
      fresh.chosen = 0;
      fresh.outcomes.clear();
      outcomes(fresh.outcomes);
      // Outcomes that only rounding makes possible are left out.
      std::erase_if(fresh.outcomes, [](const Outcome& o) { return o.probability < 1e-14; });
    }
    const Decision& decision = decisions_[next_++];
    probability_ *= decision.outcomes[decision.chosen].probability;
    return decision.outcomes[decision.chosen].value;
  }

 private:
  struct Decision {
    std::size_t chosen = 0;
    std::vector<Outcome> outcomes;
  };

  /// Moves the last decision with outcomes left to its next one, and forgets later decisions.
  bool advance() {
    while (size_ > 0 && decisions_[size_ - 1].chosen + 1 == decisions_[size_ - 1].outcomes.size()) {
      --size_;
    }
    if (size_ == 0) return false;
    ++decisions_[size_ - 1].chosen;
    return true;
  }

  std::vector<Decision> decisions_;
  std::size_t size_ = 0;
  std::size_t next_ = 0;
  double probability_ = 1;
};

/// Replaces Stream in a recycler. A chance branches in two. A uniform number is the
/// offset of a systematic sampling of the tree that the recycler holds: it branches where the
/// sample changes, at the fractional parts of the cumulative weights in units of the distance of
/// the points.
class BranchingRandom {
 public:
  BranchingRandom(const Address&, Purpose) {}
  explicit BranchingRandom(Explorer& explorer) : explorer_(&explorer) {}
  BranchingRandom(Explorer& explorer, const Kept<IntegerStates>& kept, std::size_t count)
      : explorer_(&explorer), kept_(&kept), count_(count) {}

  bool chance(double probability) {
    return explorer_->decide([&](auto& outcomes) {
      outcomes.push_back({1.0, probability});
      outcomes.push_back({0.0, 1 - probability});
    }) != 0;
  }

  double uniform() {
    return explorer_->decide([&](auto& outcomes) {
      double total = 0;
      for (const auto& entry : kept_->tree()) total += entry.weight;
      std::vector<double> breaks{0.0, 1.0};
      double cumulative = 0;
      for (const auto& entry : kept_->tree()) {
        cumulative += entry.weight;
        const double points = cumulative / total * static_cast<double>(count_);
        breaks.push_back(points - std::floor(points));
      }
      std::sort(breaks.begin(), breaks.end());
      for (std::size_t i = 1; i < breaks.size(); ++i) {
        outcomes.push_back({(breaks[i - 1] + breaks[i]) / 2, breaks[i] - breaks[i - 1]});
      }
    });
  }

  /// The order of the slots changes no count; it has its own test.
  template <class T>
  void shuffle(std::span<T>) {}

 private:
  Explorer* explorer_ = nullptr;
  const Kept<IntegerStates>* kept_ = nullptr;
  std::size_t count_ = 0;
};

/// A selection that branches only when its state is read. So everything that a recycler keeps is
/// enumerated, and states that it does not keep cost no branch.
class BranchingSelection {
 public:
  class Selected {
   public:
    operator int() const {  // as what a recycler keeps is a state
      return static_cast<int>(explorer_->decide([&](auto& outcomes) {
        for (const auto& chance : chances_) {
          outcomes.push_back({static_cast<double>(chance.state), chance.probability});
        }
      }));
    }

   private:
    friend class BranchingSelection;
    MixedSelection::Selected chances_;
    Explorer* explorer_;
  };

  BranchingSelection(Explorer& explorer, IntegerStates& states)
      : explorer_(&explorer), states_(&states) {}

  Selected leaf(int state) {
    states_->retain(state);
    Selected selected;
    selected.chances_ = mixed_.leaf(state);
    selected.explorer_ = explorer_;
    return selected;
  }
  void choose(Selected& selected, Selected& candidate, double probability) {
    mixed_.choose(selected.chances_, candidate.chances_, probability);
  }
  void release(Selected& selected) {
    for (const auto& chance : selected.chances_) states_->release(chance.state);
  }

 private:
  MixedSelection mixed_;
  Explorer* explorer_;
  IntegerStates* states_;
};

}  // namespace rehmc::exact
