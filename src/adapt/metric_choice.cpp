// Cross-validation of metrics over chains.
#include "metric_choice.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "dense_geometric.hpp"
#include "dense_slope.hpp"
#include "diagonal_ratio.hpp"
#include "diagonal_variance.hpp"
#include "low_rank_estimate.hpp"

namespace rehmc {

namespace {

using Rows =
    Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// Beyond this dimension a dense matrix costs more than it gains.
constexpr std::size_t most_dense = 500;

constexpr std::array all_estimators{
    MetricEstimator{"diagonal_ratio", MetricKind::diagonal, diagonal_ratio},
    MetricEstimator{"diagonal_variance", MetricKind::diagonal, diagonal_variance},
    MetricEstimator{"low_rank", MetricKind::low_rank, low_rank_estimate},
    MetricEstimator{"dense_geometric", MetricKind::dense, dense_geometric},
    MetricEstimator{"dense_slope", MetricKind::dense, dense_slope}};

/// Writes the states of one chain about their mean. Everything is copied into matrices of Eigen
/// first: the order of its sums depends on how memory is aligned.
void centre_rows(const StateSample& chain, double total_draws, Eigen::Ref<Eigen::MatrixXd> x,
                 Eigen::Ref<Eigen::MatrixXd> g) {
  const auto rows = static_cast<Eigen::Index>(chain.weights.size());
  const auto d = static_cast<Eigen::Index>(chain.dimension);
  const Eigen::VectorXd weights = Eigen::Map<const Eigen::VectorXd>(chain.weights.data(), rows);
  const Eigen::VectorXd root = (weights / total_draws).cwiseSqrt();
  const auto centre = [&](const std::vector<double>& from, Eigen::Ref<Eigen::MatrixXd> to) {
    const Eigen::MatrixXd states = Rows(from.data(), rows, d);
    const Eigen::RowVectorXd mean = weights.transpose() * states / weights.sum();
    to = root.asDiagonal() * (states.rowwise() - mean);
  };
  centre(chain.positions, x);
  centre(chain.gradients, g);
}

/// The first or the second half of the states of a chain.
StateSample half_in_time(const StateSample& chain, std::size_t which) {
  const std::size_t middle = chain.weights.size() / 2;
  const std::size_t begin = which == 0 ? 0 : middle;
  const std::size_t end = which == 0 ? middle : chain.weights.size();
  const auto part = [](const std::vector<double>& of, std::size_t first, std::size_t last) {
    return std::vector<double>(of.begin() + static_cast<std::ptrdiff_t>(first),
                               of.begin() + static_cast<std::ptrdiff_t>(last));
  };
  const std::size_t d = chain.dimension;
  StateSample half;
  half.positions = part(chain.positions, begin * d, end * d);
  half.gradients = part(chain.gradients, begin * d, end * d);
  half.weights = part(chain.weights, begin, end);
  half.draws = chain.draws / 2;
  half.dimension = d;
  return half;
}

CentredStates centred_one(const StateSample& chain) {
  const StateSample* const one = &chain;
  return centred({&one, 1});
}

std::shared_ptr<const Metric> estimated(const MetricEstimator& estimator,
                                        const CentredStates& states) {
  return states.x.rows() == 0 ? nullptr : estimator.estimate(states);
}

}  // namespace

CentredStates centred(std::span<const StateSample* const> chains) {
  CentredStates states;
  Eigen::Index rows = 0;
  for (const StateSample* chain : chains) {
    rows += static_cast<Eigen::Index>(chain->weights.size());
    states.draws += static_cast<double>(chain->draws);
  }
  if (rows == 0) return states;
  const auto d = static_cast<Eigen::Index>(chains.front()->dimension);
  states.x.resize(rows, d);
  states.g.resize(rows, d);
  Eigen::Index row = 0;
  for (const StateSample* chain : chains) {
    const auto count = static_cast<Eigen::Index>(chain->weights.size());
    if (count == 0) continue;
    centre_rows(*chain, states.draws, states.x.middleRows(row, count),
                states.g.middleRows(row, count));
    row += count;
  }
  return states;
}

double mapping_loss(const Metric& metric, const CentredStates& states) {
  const auto d = static_cast<std::size_t>(states.x.cols());
  Eigen::VectorXd error(states.x.cols());
  Eigen::VectorXd mapped(states.x.cols());
  double loss = 0;
  for (Eigen::Index row = 0; row < states.x.rows(); ++row) {
    const Eigen::VectorXd g = states.g.row(row);
    metric.inverse_mass_times({g.data(), d}, {error.data(), d});
    error += states.x.row(row).transpose();
    metric.mass_times({error.data(), d}, {mapped.data(), d});
    loss += error.dot(mapped);
  }
  return loss;
}

std::vector<const StateSample*> every_second(std::span<const StateSample* const> chains,
                                             std::size_t first) {
  std::vector<const StateSample*> half;
  for (std::size_t c = first; c < chains.size(); c += 2) half.push_back(chains[c]);
  return half;
}

MetricChoice choose_metric(std::span<const MetricEstimator> estimators,
                           std::span<const StateSample* const> fitted,
                           std::span<const StateSample* const> tested) {
  struct Fold {
    CentredStates fitted;
    CentredStates tested;
  };
  std::vector<Fold> folds;
  const CentredStates all = centred(fitted);
  if (fitted.size() == 1) {
    const std::array halves{half_in_time(*fitted.front(), 0), half_in_time(*fitted.front(), 1)};
    folds.push_back({centred_one(halves[0]), centred_one(halves[1])});
    folds.push_back({centred_one(halves[1]), centred_one(halves[0])});
  } else {
    folds.push_back({centred(every_second(fitted, 0)), centred(every_second(tested, 1))});
    folds.push_back({centred(every_second(fitted, 1)), centred(every_second(tested, 0))});
  }
  MetricChoice best;
  for (const MetricEstimator& estimator : estimators) {
    double loss = 0;
    for (const Fold& fold : folds) {
      const auto metric = estimated(estimator, fold.fitted);
      loss += metric ? mapping_loss(*metric, fold.tested) / static_cast<double>(folds.size())
                     : std::numeric_limits<double>::infinity();
    }
    if (!std::isfinite(loss)) continue;
    best.tried.push_back({std::string(estimator.name), loss});
    if (best.estimator != nullptr && !(loss < best.loss)) continue;
    auto metric = estimated(estimator, all);
    if (metric == nullptr) continue;
    best.estimator = &estimator;
    best.metric = std::move(metric);
    best.loss = loss;
  }
  return best;
}

std::vector<MetricEstimator> estimators_of(std::optional<MetricKind> kind, std::size_t dimension) {
  std::vector<MetricEstimator> result;
  for (const MetricEstimator& estimator : all_estimators) {
    const bool suits = estimator.kind != MetricKind::dense || dimension <= most_dense;
    if (kind ? estimator.kind == *kind : suits) result.push_back(estimator);
  }
  return result;
}

}  // namespace rehmc
