// Chooses, fits and applies control variates for every scalar, and checks their known means.
#include "rehmc/estimate/sharpen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

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
    const double squared_error = run_.errors.squared_error(series);
    if (!(squared_error > 0)) return;
    ++result_.features;
    const double z = std::abs(series.mean()) / std::sqrt(squared_error);
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

SharpenedEstimate sharpen_function(Run& run, const ScalarStates& scalar) {
  ScalarFit fit(run, scalar);
  const Eigen::VectorXd series = run.table.draw_means([&](Index s) { return fit.values()[s]; });
  std::vector<Eigen::MatrixXd> of_folds;
  std::vector<std::vector<Shape>> shapes(run.folds.size());
  for (std::size_t f = 0; f < run.folds.size(); ++f) {
    const std::vector<Index> coordinates = best_coordinates(run, f, series);
    std::vector<Eigen::MatrixXd> parts;
    Index columns = 0;
    for (const Index i : coordinates) {
      std::vector<double> thresholds;
      for (const QuantileEstimate& quantile : scalar.known.quantiles) {
        thresholds.push_back(run.frames[f].centre[i] +
                             run.frames[f].scale[i] * normal_quantile(quantile.probability));
      }
      const CoordinateStates states = run.coordinate(f, i);
      parts.push_back(own_features(run.table, run.frames[f], i, states, thresholds));
      const std::vector<Shape> of_part = shapes_of(run, f, i, states, thresholds.size());
      shapes[f].insert(shapes[f].end(), of_part.begin(), of_part.end());
      columns += parts.back().cols();
    }
    Eigen::MatrixXd own(to_index(run.table.draws()), columns);
    Index first = 0;
    for (const Eigen::MatrixXd& part : parts) {
      own.middleCols(first, part.cols()) = part;
      first += part.cols();
    }
    of_folds.push_back(std::move(own));
  }
  return fit.estimate({std::move(of_folds), std::move(shapes)}, {});
}

SharpenedEstimate unsharpened(const ScalarStates& scalar) {
  SharpenedEstimate result;
  result.estimate = scalar.known;
  result.quantile_sets.assign(scalar.known.quantiles.size(), FeatureSet::none);
  return result;
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
  for (const ScalarStates& scalar : scalars) result.scalars.push_back(unsharpened(scalar));
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
  for (Index i = 0; i < run.table.dimension(); ++i) {
    std::vector<CoordinateStates> states;
    for (std::size_t f = 0; f < run.folds.size(); ++f) states.push_back(run.coordinate(f, i));
    const OwnFeatures checked = own_at(run, i, states, [&](std::size_t f) {
      return std::vector<double>{run.frames[f].centre[i]};
    });
    // The fields 1, z, z^2 and that of the median; z^3 has too heavy a tail to judge by.
    for (const Index column : {Index{0}, Index{1}, Index{2}, power_fields}) {
      const bool heavy =
          std::any_of(checked.shapes.begin(), checked.shapes.end(), [&](auto& shapes) {
            return shapes[static_cast<std::size_t>(column)].least() > heaviest_tail;
          });
      if (heavy) continue;
      check.add(run.across_folds(checked.of_folds, column), i);
    }
    for (const std::size_t k : of_coordinate[static_cast<std::size_t>(i)]) {
      ScalarFit fit(run, scalars[k]);
      const OwnFeatures own = with_thresholds(run, i, states, checked,
                                              [&](std::size_t f) { return fit.thresholds(f); });
      result.scalars[k] = fit.estimate(own, states);
    }
  }
  for (Index b = 0; b < to_index(run.block_first.size()); ++b) {
    const Eigen::VectorXd series = run.across_folds(run.blocks, b);
    if (!too_heavy(series)) check.add(series, run.block_first[static_cast<std::size_t>(b)]);
  }
  for (const std::size_t k : functions) result.scalars[k] = sharpen_function(run, scalars[k]);
  result.check = check.finish();
  return result;
}

}  // namespace rehmc
