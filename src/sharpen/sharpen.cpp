// Chooses, fits and applies control variates for every scalar, and checks their known means.
#include "rehmc/sharpen/sharpen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "rehmc/core/numerics.hpp"
#include "scalar_fit.hpp"

namespace rehmc {

namespace {

using namespace stein;  // NOLINT(google-build-using-namespace): the private pieces of this file

/// Own features of a function of many coordinates: those of so many.
constexpr std::size_t coordinates_of_a_function = 3;

/// Averages whose mean should be 0.
class Check {
 public:
  explicit Check(Run& run) : run_(run) {}

  void add(const Eigen::Ref<const Eigen::VectorXd>& series, Index coordinate) {
    const double z = run_.errors.score(series);
    if (std::isnan(z)) return;
    ++result_.features;
    if (!(z <= result_.worst)) {
      result_.worst = z;
      result_.coordinate = static_cast<std::size_t>(coordinate);
    }
  }
  SteinCheck finish() {
    const auto count = static_cast<double>(std::max<std::size_t>(1, result_.features));
    result_.limit = -normal_quantile(SteinCheck::false_alarm_rate / 2 / count);
    return result_;
  }

 private:
  Run& run_;
  SteinCheck result_;
};

/// Looks at the fields 1, z and those of two thresholds; z^2 and z^3 have too heavy tails to judge
/// by.
void check_coordinate(const Run& run, Index i, const std::vector<CoordinateStates>& states,
                      const std::vector<OwnFeatures>& powers, Check& check) {
  for (Index field = 0; field <= 1; ++field) {
    const bool heavy = std::any_of(powers.begin(), powers.end(), [&](const OwnFeatures& own) {
      return own.shapes[static_cast<std::size_t>(field)].least() > heaviest_tail;
    });
    if (heavy) continue;
    check.add(run.across_folds([&](std::size_t f) { return powers[f].columns.col(field); }), i);
    if (field != 0) continue;
    // The field of a threshold has the tail of the field 1. One sd to both sides of the centre:
    // together they see what is off in the middle, apart what is off on one side.
    for (const double side : {-1.0, 1.0}) {
      Eigen::VectorXd series(to_index(run.table.draws()));
      for (std::size_t f = 0; f < run.folds.size(); ++f) {
        const Fold& fold = run.folds[f];
        const SteinFrame& frame = run.frames[f];
        const Threshold at(run.table, frame, i, states[f], frame.centre[i] + side * frame.scale[i]);
        series.segment(fold.begin, fold.end - fold.begin) = at.means({0, 1}, fold.begin, fold.end);
      }
      check.add(series, i);
    }
  }
}

/// The coordinates whose gradients go best with a function, in the draws a fit is made on.
std::vector<Index> best_coordinates(const Run& run, std::size_t f,
                                    const Eigen::Ref<const Eigen::VectorXd>& series) {
  const Fold& fold = run.folds[f];
  const SharedColumns& shared = run.shared[f];
  const Index count = to_index(run.linear[f].size());
  Eigen::VectorXd left = series.array() - series.mean();
  left.segment(fold.begin, fold.end - fold.begin).setZero();
  Eigen::VectorXd relevance(count);
  for (Index k = 0; k < count; ++k) {
    const auto column = shared.columns().col(k);
    relevance[k] = std::abs(column.dot(left)) / column.norm();
  }
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return relevance[a] > relevance[b]; });
  order.resize(std::min(order.size(), coordinates_of_a_function));
  for (Index& k : order) k = run.linear[f][static_cast<std::size_t>(k)];
  return order;
}

/// The own features of some coordinates side by side.
OwnFeatures features_of(Run& run, std::size_t fold, const std::vector<Index>& coordinates,
                        const Estimate& known) {
  OwnFeatures all{Eigen::MatrixXd(to_index(run.table.draws()), 0), {}, {}};
  const SteinFrame& frame = run.frames[fold];
  for (const Index i : coordinates) {
    std::vector<double> thresholds;
    for (const QuantileEstimate& quantile : known.quantiles) {
      thresholds.push_back(frame.centre[i] +
                           frame.scale[i] * normal_quantile(quantile.probability));
    }
    const CoordinateStates states = run.coordinate(fold, i);
    const OwnFeatures powers = powers_of(run, fold, i, states);
    const OwnFeatures own = with_thresholds(run, fold, i, states, powers, thresholds);
    all.columns.conservativeResize(Eigen::NoChange, all.columns.cols() + own.columns.cols());
    all.columns.rightCols(own.columns.cols()) = own.columns;
    all.shapes.insert(all.shapes.end(), own.shapes.begin(), own.shapes.end());
  }
  return all;
}

/// A scalar to be fitted, with all that it takes.
struct Task {
  std::size_t scalar;
  ScalarFit fit;
  std::vector<OwnFeatures> own;  ///< by fold
  /// The own coordinate by fold, maybe of several scalars; empty for a function of many.
  std::shared_ptr<const std::vector<CoordinateStates>> states;
};

/// Fits several scalars together: what the shared columns leave of many columns is found faster
/// than of few. Always of as many, and columns lie alike in memory: what is found for a scalar does
/// not depend on the others, down to the last bit.
class Group {
 public:
  Group(Run& run, SharpenResult& result)
      : run_(run),
        result_(result),
        most_(std::clamp(to_index(most_states) / run.table.states(), Index{1}, most_tasks)),
        alignment_(cache_line / std::gcd(cache_line, to_index(run.table.draws()))) {}

  void add(Task task) {
    tasks_.push_back(std::move(task));
    if (to_index(tasks_.size()) == most_) flush();
  }
  void flush() {
    for (std::size_t f = 0; f < run_.folds.size(); ++f) fit_fold(f);
    for (Task& task : tasks_) result_.scalars[task.scalar] = task.fit.choose(*task.states);
    tasks_.clear();
  }

 private:
  static constexpr std::size_t most_states = 400'000;  ///< lest groups take too much memory
  static constexpr Index most_tasks = 8;
  static constexpr Index cache_line = 8;  ///< in numbers

  /// Columns at once in a fold.
  Index panel(std::size_t f) const {
    return most_tasks * ScalarFit::columns_of_coordinate(run_, f);
  }

  void fit_fold(std::size_t f) {
    std::vector<Part> parts;
    Index width = 0;
    for (Task& task : tasks_) {
      Part part{&task, width, task.fit.columns_for(task.own[f])};
      if (width + part.count > panel(f) && !parts.empty()) {
        fit_parts(f, parts);
        parts.clear();
        part.begin = 0;
      }
      width = (part.begin + part.count + alignment_ - 1) / alignment_ * alignment_;
      parts.push_back(part);
    }
    fit_parts(f, parts);
  }

  struct Part {
    Task* task;
    Index begin;
    Index count;
  };
  void fit_parts(std::size_t f, const std::vector<Part>& parts) {
    if (parts.empty()) return;
    const Index width = std::max(panel(f), parts.back().begin + parts.back().count);
    // What is left of earlier parts between these is of no account.
    if (all_.cols() != width) all_.setZero(to_index(run_.table.draws()), width);
    for (const auto& [task, begin, count] : parts) {
      task->fit.put_columns(task->own[f], all_.middleCols(begin, count));
    }
    run_.shared[f].remainders(all_, remainders_);
    for (const auto& [task, begin, count] : parts) {
      task->fit.fit(f, task->own[f], all_.middleCols(begin, count),
                    remainders_.middleCols(begin, count),
                    task->states->empty() ? nullptr : &(*task->states)[f]);
    }
  }

  Run& run_;
  SharpenResult& result_;
  Index most_;
  Index alignment_;  ///< of the first column of a scalar
  std::vector<Task> tasks_;
  Eigen::MatrixXd all_;         ///< the columns of some scalars
  Eigen::MatrixXd remainders_;  ///< what shared columns leave of them
};

Task task_of_function(Run& run, std::size_t k, const ScalarStates& scalar) {
  Task task{k, ScalarFit(run, scalar), {}, std::make_shared<std::vector<CoordinateStates>>()};
  const Eigen::VectorXd series =
      run.table.draw_means([&](Index s) { return task.fit.values()[s]; });
  for (std::size_t f = 0; f < run.folds.size(); ++f) {
    task.own.push_back(features_of(run, f, best_coordinates(run, f, series), scalar.known));
  }
  return task;
}

bool ordinary(const ScalarStates& scalar) {
  return scalar.known.condition == DrawsCondition::ordinary && scalar.known.sd > 0;
}

}  // namespace

std::string_view describe(FeatureSet set) noexcept {
  constexpr std::array<std::string_view, set_count> names{
      "none", "bounded", "own", "bounded_linear", "linear", "row", "quadratic"};
  return names[static_cast<std::size_t>(set)];
}

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

  std::vector<std::vector<std::size_t>> of_coordinate(
      static_cast<std::size_t>(run.table.dimension()));
  std::vector<std::size_t> functions;
  for (std::size_t k = 0; k < scalars.size(); ++k) {
    if (settings.check_only || !ordinary(scalars[k])) continue;
    if (scalars[k].coordinate) {
      of_coordinate.at(*scalars[k].coordinate).push_back(k);
    } else {
      functions.push_back(k);
    }
  }

  Check check(run);
  Group group(run, result);
  for (Index i = 0; i < run.table.dimension(); ++i) {
    const auto states = std::make_shared<std::vector<CoordinateStates>>();
    std::vector<OwnFeatures> powers;
    for (std::size_t f = 0; f < run.folds.size(); ++f) {
      states->push_back(run.coordinate(f, i));
      powers.push_back(powers_of(run, f, i, states->back()));
    }
    check_coordinate(run, i, *states, powers, check);
    for (const std::size_t k : of_coordinate[static_cast<std::size_t>(i)]) {
      Task task{k, ScalarFit(run, scalars[k]), {}, states};
      if (!task.fit.follows_coordinate()) {
        functions.push_back(k);
        continue;
      }
      for (std::size_t f = 0; f < run.folds.size(); ++f) {
        task.own.push_back(
            with_thresholds(run, f, i, (*states)[f], powers[f], task.fit.thresholds()[f]));
      }
      group.add(std::move(task));
    }
  }
  for (Index b = 0; b < to_index(run.block_first.size()); ++b) {
    const Eigen::VectorXd series =
        run.across_folds([&](std::size_t f) { return run.blocks[f].col(b); });
    if (!too_heavy(series)) check.add(series, run.block_first[static_cast<std::size_t>(b)]);
  }
  for (const std::size_t k : functions) group.add(task_of_function(run, k, scalars[k]));
  group.flush();
  result.check = check.finish();
  return result;
}

}  // namespace rehmc
