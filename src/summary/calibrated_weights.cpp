// Newton's method on the dual problem of entropy balancing, which is convex.
#include "rehmc/summary/calibrated_weights.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "rehmc/core/error.hpp"
#include "rehmc/core/products.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t draws_per_feature = 20;
constexpr int most_steps = 60;
constexpr double balanced = 1e-10;        ///< of a feature with sd 1: stop
constexpr double nearly_balanced = 1e-8;  ///< as far as rounding allows
constexpr double least_step = 1e-8;       ///< of the line search
constexpr double sufficient_fall = 1e-4;  ///< Armijo's condition
constexpr double steadying = 1e-12;       ///< of the curvature, where features depend on each other

/// All kept states, one per row.
struct States {
  MatrixXd positions;
  MatrixXd gradients;
  VectorXd weights;  ///< sum to 1
  std::size_t draws = 0;
};

States states_of(const SampleResult& result) {
  States states;
  std::size_t count = 0;
  const std::size_t d = result.coordinates.size();
  for (const ChainResult& chain : result.chains) {
    const ChainRecord& record = chain.record;
    if (record.gradients == KeptGradients::no || record.kept_gradient.empty()) {
      throw DataError("no weights: the gradients of the kept states were not stored");
    }
    count += record.kept_weight.size();
    states.draws += record.size();
  }
  states.positions.resize(static_cast<Index>(count), static_cast<Index>(d));
  states.gradients.resize(states.positions.rows(), states.positions.cols());
  states.weights.resize(states.positions.rows());
  Index row = 0;
  for (const ChainResult& chain : result.chains) {
    const ChainRecord& record = chain.record;
    const std::span<const double> positions = record.kept_positions();
    for (std::size_t k = 0, draw = 0; k < record.kept_weight.size(); ++k, ++row) {
      while (k >= record.kept_end[draw]) ++draw;
      states.weights[row] = record.kept_weight[k] * record.mass[draw];
      for (std::size_t i = 0; i < d; ++i) {
        states.positions(row, static_cast<Index>(i)) = positions[k * d + i];
        states.gradients(row, static_cast<Index>(i)) =
            static_cast<double>(record.kept_gradient[k * d + i]);
      }
    }
  }
  states.weights /= states.weights.sum();
  return states;
}

/// The functions of mean 0 at every state, each with sd 1.
MatrixXd features_of(const States& states) {
  const Index d = states.positions.cols();
  const auto most = static_cast<Index>(states.draws / draws_per_feature);
  if (d > most) {
    throw DataError(
        fmt::format("no weights: there are {} coordinates, but only {} features can be calibrated "
                    "with this many draws; take more draws",
                    d, most));
  }
  MatrixXd features = states.gradients;
  if (2 * d <= most) {
    const Eigen::RowVectorXd centre = states.weights.transpose() * states.positions;
    features.conservativeResize(Eigen::NoChange, 2 * d);
    features.rightCols(d) =
        (states.positions.rowwise() - centre).cwiseProduct(states.gradients).array() + 1;
  }
  const Eigen::RowVectorXd spread = (states.weights.transpose() * features.cwiseAbs2()).cwiseSqrt();
  if (!spread.allFinite() || spread.minCoeff() == 0) {
    throw DataError("no weights: states or gradients do not vary in some coordinate");
  }
  return features * spread.cwiseInverse().asDiagonal();
}

/// The dual: the logarithm of the sum of own * exp(features . factors), and the weights it implies.
struct Trial {
  double value;
  VectorXd weights;
};
Trial trial_at(const MatrixXd& features, const VectorXd& own, const VectorXd& factors) {
  const VectorXd exponents = features * factors;
  const double top = exponents.maxCoeff();
  VectorXd weights = own.array() * (exponents.array() - top).exp();
  const double total = weights.sum();
  weights /= total;
  return {top + std::log(total), std::move(weights)};
}

VectorXd balance(const MatrixXd& features, const VectorXd& own) {
  VectorXd factors = VectorXd::Zero(features.cols());
  Trial best = trial_at(features, own, factors);
  for (int k = 0; k < most_steps; ++k) {
    const VectorXd slope = features.transpose() * best.weights;
    if (slope.cwiseAbs().maxCoeff() < balanced) return best.weights;
    const MatrixXd centred = features.rowwise() - slope.transpose();
    const MatrixXd weighted = best.weights.asDiagonal() * centred;
    MatrixXd curvature = MatrixXd::Zero(features.cols(), features.cols());
    add_product(1, by_columns(weighted).transposed(), by_columns(centred), into(curvature));
    curvature.diagonal().array() += steadying;
    const VectorXd step = curvature.ldlt().solve(slope);
    bool fell = false;
    for (double size = 1; !fell && size > least_step; size /= 2) {
      Trial trial = trial_at(features, own, factors - size * step);
      fell = trial.value <= best.value - sufficient_fall * size * slope.dot(step);
      if (!fell) continue;
      factors -= size * step;
      best = std::move(trial);
    }
    if (!fell) break;
  }
  if ((features.transpose() * best.weights).cwiseAbs().maxCoeff() < nearly_balanced) {
    return best.weights;
  }
  throw DataError(
      "no weights: with none that are positive do all features average to 0, since some coordinate "
      "is on one side of where its gradient says that it must be; take more draws");
}

}  // namespace

CalibratedWeights calibrated_weights(const SampleResult& result) {
  const States states = states_of(result);
  const MatrixXd features = features_of(states);
  const VectorXd found = balance(features, states.weights);
  return {.weights = {found.begin(), found.end()},
          .features = static_cast<std::size_t>(features.cols()),
          .effective_states = 1 / found.squaredNorm()};
}

std::vector<std::size_t> systematic_places(const std::vector<double>& weights, std::size_t count,
                                           std::uint64_t seed) {
  if (count == 0) throw ConfigError("found 0 draws to be resampled, expected at least 1");
  double total = 0;
  for (const double weight : weights) total += weight;
  Stream stream({.seed = seed}, Purpose::selection);
  const double first = stream.uniform();
  std::vector<std::size_t> places;
  std::size_t place = 0;
  double below = weights.front();
  for (std::size_t k = 0; k < count; ++k) {
    const double point = (static_cast<double>(k) + first) / static_cast<double>(count) * total;
    while (below <= point && place + 1 < weights.size()) below += weights[++place];
    places.push_back(place);
  }
  return places;
}

}  // namespace rehmc
