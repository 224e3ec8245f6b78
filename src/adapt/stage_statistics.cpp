// Predicts step sizes from gradients, and measures drift.
#include "stage_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

}  // namespace rehmc
