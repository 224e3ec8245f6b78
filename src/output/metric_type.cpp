// Writes every metric as one that Stan knows.
#include "metric_type.hpp"

#include <span>

#include "rehmc/core/low_rank.hpp"

namespace rehmc {

namespace {

std::vector<double> full_low_rank(std::size_t d, std::span<const double> numbers) {
  const std::size_t rank = (numbers.size() - d) / (d + 1);
  const auto part = [&](std::size_t begin, std::size_t size) {
    const auto of = numbers.subspan(begin, size);
    return std::vector<double>(of.begin(), of.end());
  };
  const DiagonalPlusLowRank inverse_mass(part(0, d), part(d, rank * d), part(d + rank * d, rank));
  std::vector<double> matrix(d * d, 0.0);
  for (std::size_t i = 0; i < d; ++i) {
    const auto row = std::span(matrix).subspan(i * d, d);
    row[i] = 1;
    inverse_mass.apply(row, row);
  }
  // Rounding may differ between the halves; a reader may insist on symmetry.
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < i; ++j) matrix[j * d + i] = matrix[i * d + j];
  }
  return matrix;
}

}  // namespace

std::string_view stan_metric_type(MetricKind kind) {
  switch (kind) {
    case MetricKind::unit:
      return "unit_e";
    case MetricKind::diagonal:
      return "diag_e";
    case MetricKind::dense:
    case MetricKind::low_rank:
      break;
  }
  return "dense_e";
}

std::vector<double> full_inverse_mass(const Metric& metric) {
  const std::size_t d = metric.dimension();
  if (metric.kind() == MetricKind::dense) return metric.numbers();
  if (metric.kind() == MetricKind::low_rank) return full_low_rank(d, metric.numbers());
  const std::vector<double> diagonal = metric.inverse_diagonal();
  std::vector<double> matrix(d * d, 0.0);
  for (std::size_t i = 0; i < d; ++i) matrix[i * d + i] = diagonal[i];
  return matrix;
}

}  // namespace rehmc
