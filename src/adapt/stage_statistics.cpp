// Predicts step sizes from gradients, and measures drift.
#include "stage_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "metric_choice.hpp"

namespace rehmc {

namespace {

/// Rows of gradients that a step size is predicted from.
constexpr Eigen::Index most_rows = 200;

/// A subset of the rows as columns, each mapped by M^{-1} if there is a metric.
Eigen::MatrixXd some_rows(const Eigen::MatrixXd& from, const Metric* metric) {
  const Eigen::Index count = std::min(from.rows(), most_rows);
  const auto d = static_cast<std::size_t>(from.cols());
  Eigen::MatrixXd columns(from.cols(), count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::VectorXd row = from.row(i * from.rows() / count);
    columns.col(i) = row;
    if (metric != nullptr) metric->inverse_mass_times({row.data(), d}, {columns.col(i).data(), d});
  }
  return columns;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double step_size_ratio(const Metric& to, const Metric& from, const CentredStates& one,
                       const CentredStates& other) {
  if (one.g.rows() == 0 || other.g.rows() == 0) return 1;
  const Eigen::MatrixXd rows = some_rows(one.g, nullptr);
  const double after = (rows.transpose() * some_rows(other.g, &to)).norm();
  const double before = (rows.transpose() * some_rows(other.g, &from)).norm();
  const double ratio = std::sqrt(before / after);
  return std::isfinite(ratio) && ratio > 0 ? ratio : 1;
}

double drift(const std::vector<std::span<const double>>& chains) {
  double change = 0;
  double squares = 0;
  double count = 0;
  for (const auto chain : chains) {
    const std::size_t middle = chain.size() / 2;
    if (middle == 0) return 0;
    const double first = mean(chain.first(middle));
    const double second = mean(chain.subspan(middle));
    change += (second - first) / static_cast<double>(chains.size());
    for (const double value : chain) {
      const double offset = value - 0.5 * (first + second);
      squares += offset * offset;
      count += 1;
    }
  }
  return squares > 0 ? change / std::sqrt(squares / count) : 0;
}

double log_mass(const StateSample& states, std::span<const double> log_densities) {
  const StateSample* const one = &states;
  const CentredStates about_mean = centred({&one, 1});
  if (about_mean.x.rows() == 0 || log_densities.empty()) {
    return -std::numeric_limits<double>::infinity();
  }
  const double log_volume = about_mean.x.colwise().norm().array().log().sum();
  return mean(log_densities) + log_volume;
}

std::vector<std::size_t> outliers_below(std::span<const double> log_masses, std::size_t dimension) {
  // A log density has an sd of sqrt(d / 2), and each sd of a short stage is off by a third or so.
  const double limit = 10 + 3 * std::sqrt(static_cast<double>(dimension));
  std::vector<std::size_t> result;
  for (std::size_t c = 0; c < log_masses.size(); ++c) {
    std::vector<double> others;
    for (std::size_t k = 0; k < log_masses.size(); ++k) {
      if (k != c) others.push_back(log_masses[k]);
    }
    if (others.empty()) break;
    // The lower one of two in the middle: a chain far above the others is no fault of theirs.
    const auto middle = others.begin() + static_cast<std::ptrdiff_t>((others.size() - 1) / 2);
    std::ranges::nth_element(others, middle);
    if (log_masses[c] < *middle - limit) result.push_back(c);
  }
  return result;
}

}  // namespace rehmc
