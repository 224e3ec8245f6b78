// Gathers the values of one scalar and computes what features are to explain.
#include "scalar_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/quantiles.hpp"

namespace rehmc::stein {

Eigen::VectorXd gathered_values(const Run& run, const ScalarStates& scalar) {
  if (run.is_coordinate(scalar)) return run.table.positions.col(to_index(*scalar.coordinate));
  std::size_t count = 0;
  for (const Series& chain : scalar.values) count += chain.size;
  if (to_index(count) != run.table.states()) {
    throw DataError(fmt::format("a scalar has {} values for {} states", count, run.table.states()));
  }
  Eigen::VectorXd values(run.table.states());
  Index s = 0;
  for (const Series& chain : scalar.values) {
    for (std::size_t k = 0; k < chain.size; ++k) values[s++] = chain[k];
  }
  return values;
}

ScalarTarget::ScalarTarget(const Run& run, const ScalarStates& scalar)
    : run_(run), scalar_(scalar), values_(gathered_values(run, scalar)) {
  follow_coordinate();
  measured_sd_ = std::sqrt((measured_.array() - measured_.mean()).square().mean());
  find_thresholds();
  make_targets();
  make_differences();
  make_plain_differences();
}

void ScalarTarget::follow_coordinate() {
  measured_ = values_;
  if (!scalar_.coordinate) return;
  coordinate_ = to_index(*scalar_.coordinate);
  measured_ = run_.table.positions.col(*coordinate_);
  identical_ = measured_ == values_;
  if (identical_) return;
  std::vector<std::pair<double, Index>> places;  // side by side, which is faster to sort
  for (Index s = 0; s < values_.size(); ++s) places.emplace_back(measured_[s], s);
  std::sort(places.begin(), places.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [x, s] : places) order_.push_back(s);
  falling_ = values_[order_.front()] > values_[order_.back()];
  const bool monotone = std::is_sorted(order_.begin(), order_.end(), [&](Index a, Index b) {
    return falling_ ? values_[a] > values_[b] : values_[a] < values_[b];
  });
  if (monotone) return;
  order_.clear();
  coordinate_.reset();
  measured_ = values_;
  falling_ = false;
}

void ScalarTarget::find_thresholds() {
  const auto quantiles = [&](std::vector<double> values, std::span<const double> weights) {
    const EmpiricalDistribution distribution(std::move(values), weights);
    std::vector<double> found;
    for (const QuantileEstimate& quantile : known().quantiles) {
      found.push_back(distribution.quantile(measured_probability(quantile.probability)));
    }
    return found;
  };
  if (coordinate_ && !identical_) {
    thresholds_ =
        quantiles({measured_.begin(), measured_.end()},
                  {run_.table.weights.data(), static_cast<std::size_t>(run_.table.weights.size())});
  } else {
    for (const QuantileEstimate& quantile : known().quantiles) {
      thresholds_.push_back(quantile.value);
    }
  }
  for (const Fold& fold : run_.folds) {
    if (!coordinate_) {
      fold_thresholds_.push_back(thresholds_);
      continue;
    }
    constexpr std::size_t enough = 4000;
    std::vector<double> values;
    std::vector<double> weights;
    for (const Index s : run_.training_states(fold, enough)) {
      values.push_back(measured_[s]);
      weights.push_back(run_.table.weights[s]);
    }
    fold_thresholds_.push_back(quantiles(std::move(values), weights));
  }
}

void ScalarTarget::make_targets() {
  const StateTable& table = run_.table;
  const auto y = [&](Index s) { return (values_[s] - centre()) / scale(); };
  targets_.resize(to_index(table.draws()), columns().count());
  targets_.col(TargetColumns::mean) = table.as_ratio(table.draw_means(y));
  targets_.col(TargetColumns::square) =
      table.as_ratio(table.draw_means([&](Index s) { return y(s) * y(s); }));
  const Eigen::MatrixXd shares = table.shares_below(measured_, thresholds_);
  for (Index t = 0; t < shares.cols(); ++t) {
    targets_.col(columns().indicators()[t]) = table.as_ratio(shares.col(t));
  }
}

void ScalarTarget::make_differences() {
  if (scalar_.first.empty()) return;
  differences_.resize(targets_.rows(), TargetColumns::moments.count);
  Index n = 0;
  const double shift = scalar_.centre - centre();
  for (std::size_t c = 0; c < scalar_.first.size(); ++c) {
    for (std::size_t i = 0; i < scalar_.first[c].size; ++i, ++n) {
      const double offset = scalar_.first[c][i];
      const double square = scalar_.second[c][i] + shift * (2 * offset + shift);
      const double mass = run_.table.masses[n];
      differences_(n, TargetColumns::mean) = mass * (offset + shift) / scale();
      differences_(n, TargetColumns::square) = mass * square / (scale() * scale());
    }
  }
  for (Index k = 0; k < differences_.cols(); ++k) {
    differences_.col(k) = run_.table.as_ratio(differences_.col(k)) - targets_.col(k);
  }
  forget_rounding(differences_);
}

void ScalarTarget::forget_rounding(Eigen::MatrixXd& columns) const {
  constexpr double least = 1e-8;
  constexpr double few = 16;
  const double rounding =
      few * std::numeric_limits<double>::epsilon() * std::abs(centre()) / scale();
  for (Index k = 0; k < columns.cols(); ++k) {
    if (columns.col(k).cwiseAbs().maxCoeff() <= std::max(least, rounding)) columns.col(k).setZero();
  }
}

void ScalarTarget::make_plain_differences() {
  if (scalar_.plain.empty()) return;
  Eigen::VectorXd y(targets_.rows());
  Index n = 0;
  for (const Series& chain : scalar_.plain) {
    for (std::size_t i = 0; i < chain.size; ++i) y[n++] = (chain[i] - centre()) / scale();
  }
  plain_differences_ = -targets_;
  if (differences_.cols() > 0) TargetColumns::moments.of(plain_differences_) -= differences_;
  plain_differences_.col(TargetColumns::mean) += y;
  plain_differences_.col(TargetColumns::square) += y.cwiseAbs2();
  // The coordinate of a plain draw is not known where the scalar is another function of it.
  const bool measured = !coordinate_ || identical_;
  for (std::size_t t = 0; t < thresholds_.size(); ++t) {
    auto column = plain_differences_.col(columns().indicators()[to_index(t)]);
    const double threshold = (thresholds_[t] - centre()) / scale();
    if (measured) {
      column.array() += (y.array() <= threshold).cast<double>();
    } else {
      column.setConstant(nan_value);
    }
  }
  forget_rounding(plain_differences_);
}

Eigen::VectorXd ScalarTarget::below(double threshold) const {
  const StateTable& table = run_.table;
  return table.as_ratio(
      table.draw_means([&](Index s) { return measured_[s] <= threshold ? 1.0 : 0.0; }));
}

ScalarTarget::CarriedOver ScalarTarget::carried_over(double x) const {
  if (order_.empty()) return {x, 1, 0};
  const auto at = std::partition_point(order_.begin(), order_.end(),
                                       [&](Index s) { return measured_[s] <= x; });
  const std::ptrdiff_t k = at - order_.begin();
  const auto state = [&](std::ptrdiff_t place) {
    return order_[static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(place, 0, static_cast<std::ptrdiff_t>(order_.size()) - 1))];
  };
  const auto quotient = [&](Index from, Index to) {
    const double run = measured_[to] - measured_[from];
    return run > 0 ? (values_[to] - values_[from]) / run : 0.0;
  };
  const Index low = state(k - 1);
  const Index high = state(k);
  constexpr std::ptrdiff_t some = 20;
  const Index before = state(k - 1 - some);
  const Index after = state(k + some);
  const double span = measured_[after] - measured_[before];
  const double curvature =
      span > 0 ? 2 * (quotient(high, after) - quotient(before, low)) / span : 0.0;
  const double correction =
      curvature / 2 * (x - measured_[low]) * std::min(0.0, x - measured_[high]);
  return {values_[low] + quotient(low, high) * (x - measured_[low]) + correction,
          std::abs(quotient(before, after)), correction};
}

}  // namespace rehmc::stein
