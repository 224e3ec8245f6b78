// Chooses, fits and applies control variates for every scalar, and checks their known means.
#include "rehmc/sharpen/sharpen.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "fit_group.hpp"
#include "rehmc/core/numerics.hpp"
#include "zero_mean_check.hpp"

namespace rehmc {

namespace {

using namespace stein;  // NOLINT(google-build-using-namespace): the private pieces of this room

/// A function of many coordinates uses the own features of this many.
constexpr std::size_t coordinates_of_a_function = 3;

/// The coordinates whose gradients correlate best with a function, in the training draws.
std::vector<Index> best_coordinates(const Run& run, std::size_t f,
                                    const Eigen::Ref<const Eigen::VectorXd>& series) {
  const Fold& fold = run.folds[f];
  const SharedGroups& groups = run.groups[f];
  const auto linear = groups.linear.of(run.shared[f].columns());
  Eigen::VectorXd left = series.array() - series.mean();
  fold.of(left).setZero();
  Eigen::VectorXd relevance(linear.cols());
  for (Index k = 0; k < linear.cols(); ++k) {
    relevance[k] = std::abs(linear.col(k).dot(left)) / linear.col(k).norm();
  }
  std::vector<Index> order(groups.coordinates.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return relevance[a] > relevance[b]; });
  order.resize(std::min(order.size(), coordinates_of_a_function));
  for (Index& k : order) k = groups.coordinates[static_cast<std::size_t>(k)];
  return order;
}

/// The normal scores of the quantiles of an estimate.
std::vector<double> scores_of(const Estimate& known) {
  std::vector<double> scores;
  for (const QuantileEstimate& quantile : known.quantiles) {
    scores.push_back(normal_quantile(quantile.probability));
  }
  return scores;
}

/// The own features of coordinates as functions of many coordinates use them: with thresholds where
/// a normal law of the coordinate would have the quantiles. All functions share them.
class SharedFeatures {
 public:
  explicit SharedFeatures(Run& run) : run_(run) {}

  /// Announces that a function will ask for a coordinate.
  void expect(std::size_t fold, Index i, const Estimate& known) {
    if (expected_.empty()) scores_ = scores_of(known);
    expected_.insert({fold, i});
  }
  /// Takes an expected coordinate while its states are at hand, if there is room.
  void offer(std::size_t fold, Index i, const CoordinateStates& states, const OwnFeatures& powers) {
    if (!expected_.contains({fold, i}) || !has_room(fold)) return;
    known_[{fold, i}] = computed(fold, i, states, powers);
  }

  /// Those of some coordinates side by side.
  OwnFeatures of(std::size_t fold, const std::vector<Index>& coordinates, const Estimate& known) {
    std::vector<double> scores = scores_of(known);
    if (scores != scores_) known_.clear();
    scores_ = std::move(scores);
    OwnFeatures all;
    all.layout = {run_.powers(fold), to_index(scores_.size()), to_index(coordinates.size())};
    all.columns.resize(to_index(run_.table.draws()), all.layout.count());
    Index place = 0;
    for (const Index i : coordinates) {
      const OwnFeatures& own = of_coordinate(fold, i);
      all.layout.of_coordinate(place++).of(all.columns) = own.columns;
      all.shapes.insert(all.shapes.end(), own.shapes.begin(), own.shapes.end());
    }
    return all;
  }

 private:
  using Place = std::pair<std::size_t, Index>;  ///< fold and coordinate

  /// Whether one more coordinate fits into the memory that they may take.
  bool has_room(std::size_t fold) const {
    constexpr Index most_numbers = Index{1} << 23;
    const Index numbers =
        to_index(run_.table.draws()) * (run_.powers(fold) + 2 * to_index(scores_.size()));
    return to_index(known_.size() + 1) * numbers <= most_numbers;
  }
  OwnFeatures computed(std::size_t fold, Index i, const CoordinateStates& states,
                       const OwnFeatures& powers) const {
    std::vector<double> thresholds;
    for (const double score : scores_) {
      thresholds.push_back(run_.frames[fold].centre[i] + run_.frames[fold].scale[i] * score);
    }
    return with_thresholds(run_, fold, i, states, powers, thresholds);
  }
  const OwnFeatures& of_coordinate(std::size_t fold, Index i) {
    const auto found = known_.find({fold, i});
    if (found != known_.end()) return found->second;
    if (!has_room(fold)) known_.clear();
    const CoordinateStates states = run_.coordinate(fold, i);
    return known_[{fold, i}] = computed(fold, i, states, powers_of(run_, fold, i, states));
  }

  Run& run_;
  std::vector<double> scores_;
  std::set<Place> expected_;
  std::map<Place, OwnFeatures> known_;
};

/// The coordinates whose features a function of many of them uses, by fold.
std::vector<std::vector<Index>> coordinates_of(const Run& run, const ScalarStates& scalar) {
  const Eigen::VectorXd values = gathered_values(run, scalar);
  const Eigen::VectorXd series = run.table.draw_means([&](Index s) { return values[s]; });
  std::vector<std::vector<Index>> coordinates;
  for (std::size_t f = 0; f < run.folds.size(); ++f) {
    coordinates.push_back(best_coordinates(run, f, series));
  }
  return coordinates;
}

bool ordinary(const ScalarStates& scalar) {
  return scalar.known.condition == DrawsCondition::ordinary && scalar.known.sd > 0;
}

/// Goes through all coordinates, checks them and fits their scalars, then fits the functions of
/// many coordinates.
class Sharpener {
 public:
  Sharpener(Run& run, std::span<const ScalarStates> scalars,
            std::vector<SharpenedEstimate>& results, bool no_check)
      : run_(run),
        scalars_(scalars),
        no_check_(no_check),
        check_(run),
        group_(run, results),
        shared_(run),
        of_coordinate_(static_cast<std::size_t>(run.table.dimension())) {}

  void add(std::size_t k) {
    if (scalars_[k].coordinate) {
      of_coordinate_.at(*scalars_[k].coordinate).push_back(k);
    } else {
      add_function(k);
    }
  }
  SteinCheck run() {
    for (Index i = 0; i < run_.table.dimension(); ++i) {
      if (!no_check_ || !of_coordinate_[static_cast<std::size_t>(i)].empty()) do_coordinate(i);
    }
    if (!no_check_) check_.add_blocks();
    for (const Function& function : functions_) fit(function);
    group_.flush();
    return check_.result();
  }

 private:
  /// A function of many coordinates.
  struct Function {
    std::size_t scalar;
    std::vector<std::vector<Index>> coordinates;  ///< that it uses, by fold
  };

  void add_function(std::size_t k) {
    const Function& added = functions_.emplace_back(Function{k, coordinates_of(run_, scalars_[k])});
    for (std::size_t f = 0; f < run_.folds.size(); ++f) {
      for (const Index i : added.coordinates[f]) shared_.expect(f, i, scalars_[k].known);
    }
  }
  void fit(const Function& function) {
    const ScalarStates& scalar = scalars_[function.scalar];
    FitTask task{function.scalar,
                 ScalarFit(run_, scalar),
                 {},
                 std::make_shared<std::vector<CoordinateStates>>()};
    for (std::size_t f = 0; f < run_.folds.size(); ++f) {
      task.own.push_back(shared_.of(f, function.coordinates[f], scalar.known));
    }
    group_.add(std::move(task));
  }
  void do_coordinate(Index i) {
    const auto states = std::make_shared<std::vector<CoordinateStates>>();
    std::vector<OwnFeatures> powers;
    for (std::size_t f = 0; f < run_.folds.size(); ++f) {
      states->push_back(run_.coordinate(f, i));
      powers.push_back(powers_of(run_, f, i, states->back()));
      shared_.offer(f, i, states->back(), powers.back());
    }
    if (!no_check_) check_.add_coordinate(i, *states, powers);
    for (const std::size_t k : of_coordinate_[static_cast<std::size_t>(i)]) {
      FitTask task{k, ScalarFit(run_, scalars_[k]), {}, states};
      if (!task.fit.target().coordinate()) {
        add_function(k);
        continue;
      }
      for (std::size_t f = 0; f < run_.folds.size(); ++f) {
        task.own.push_back(
            with_thresholds(run_, f, i, (*states)[f], powers[f], task.fit.target().thresholds(f)));
      }
      group_.add(std::move(task));
    }
  }

  Run& run_;
  std::span<const ScalarStates> scalars_;
  bool no_check_;
  ZeroMeanCheck check_;
  FitGroup group_;
  SharedFeatures shared_;
  std::vector<std::vector<std::size_t>> of_coordinate_;  ///< scalars
  std::vector<Function> functions_;
};

}  // namespace

std::vector<std::vector<std::size_t>> blocks_of(std::span<const std::string> names) {
  std::vector<std::vector<std::size_t>> blocks;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [place, fresh] =
        known.try_emplace(names[i].substr(0, names[i].find_first_of(".[")), blocks.size());
    if (fresh) blocks.emplace_back();
    blocks[place->second].push_back(i);
  }
  return blocks;
}

SharpenResult sharpen(std::span<const GradientStates> chains, std::span<const ScalarStates> scalars,
                      const SharpenSettings& settings) {
  SharpenResult result;
  for (const ScalarStates& scalar : scalars) result.scalars.push_back(unsharpened(scalar.known));
  Run run(chains, settings);
  if (!run.usable) return result;
  Sharpener sharpener(run, scalars, result.scalars, settings.no_check);
  for (std::size_t k = 0; k < scalars.size(); ++k) {
    if (!settings.check_only && ordinary(scalars[k])) sharpener.add(k);
  }
  const SteinCheck check = sharpener.run();
  if (!settings.no_check) result.check = check;
  return result;
}

}  // namespace rehmc
