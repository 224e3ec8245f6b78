// Standard errors of means, raised for the rare events that a run has not seen.
#include "mean_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "rehmc/core/numerics.hpp"
namespace rehmc::stein {

double MeanErrors::squared_error(const Eigen::Ref<const Eigen::VectorXd>& series) {
  const double mean = series.mean();
  const double variance =
      (series.array() - mean).square().sum() / static_cast<double>(series.size() - 1);
  if (!(variance > 0)) return variance;
  // In units of its sd: the effective size is not defined for numbers that hardly differ.
  series_.values.resize(static_cast<std::size_t>(series.size()));
  Eigen::Map<Eigen::VectorXd>(series_.values.data(), series.size()) =
      (series.array() - mean) / std::sqrt(variance);
  effective_ = effective_size_.of_split(series_);
  return variance / effective_;
}

template <class Expected>
MeanError MeanErrors::error_with(const Eigen::Ref<const Eigen::VectorXd>& series,
                                 const Expected& expected) {
  const double squared = squared_error(series);
  if (!(squared > 0)) return {squared, std::numeric_limits<double>::infinity()};
  // The series is kept in units of its sd.
  const double unit = squared * effective_;
  MeanError error = with_unseen_events(series_, squared / unit, expected(series_, unit));
  error.squared *= unit;
  return error;
}

MeanError MeanErrors::error(const Eigen::Ref<const Eigen::VectorXd>& series) {
  return error_with(series, [](const ChainTable&, double) { return 0.0; });
}

MeanError MeanErrors::error(const Eigen::Ref<const Eigen::VectorXd>& left,
                            const Eigen::Ref<const Eigen::VectorXd>& target,
                            const UnseenExcursion& unseen) {
  const double squared = squared_error(target);
  ChainTable whole = series_;
  const double in_sds = squared > 0 ? 1 / effective_ : 0;
  const double variance = squared > 0 ? squared * effective_ : 0;
  return error_with(left, [&](const ChainTable& rest, double unit) {
    const double scale = std::sqrt(variance / unit);
    for (double& value : whole.values) value *= scale;
    return unseen_remainder(whole, in_sds * scale * scale, rest, unseen);
  });
}

double MeanErrors::skewness_of_mean() const {
  constexpr std::size_t chunks_per_chain = 50;
  const std::size_t n = series_.iterations;
  const std::size_t length = std::max<std::size_t>(1, n / chunks_per_chain);
  double squares = 0;
  double cubes = 0;
  for (std::size_t c = 0; c < series_.chains; ++c) {
    const std::span<const double> chain = std::span(series_.values).subspan(c * n, n);
    for (std::size_t begin = 0; begin + length <= n; begin += length) {
      double sum = 0;
      for (const double value : chain.subspan(begin, length)) sum += value;
      squares += sum * sum;
      cubes += sum * sum * sum;
    }
  }
  return squares > 0 ? cubes / std::pow(squares, 1.5) : 0.0;
}

double MeanErrors::score(const Eigen::Ref<const Eigen::VectorXd>& series) {
  const double squared = squared_error(series);
  if (!(squared > 0)) return nan_value;
  const auto values = Eigen::Map<const Eigen::ArrayXd>(series_.values.data(), series.size());
  const double kurtosis = values.square().square().mean();
  // Hall (1992), Journal of the Royal Statistical Society B 54: a skewed law makes Student's t
  // skewed to the other side; this cubic undoes it to second order.
  const double t = series.mean() / std::sqrt(squared);
  const double s = skewness_of_mean();
  const double straight = t + s * t * t / 3 + s * s * t * t * t / 27 + s / 6;
  // Satterthwaite (1946): a squared error with the relative variance 2 / degrees; then Wallace
  // (1959), Annals of Mathematical Statistics 30: the normal score of Student's t.
  const double degrees = 2 * effective_ / std::max(kurtosis - 1, 1.0);
  return (8 * degrees + 1) / (8 * degrees + 3) *
         std::sqrt(degrees * std::log1p(straight * straight / degrees));
}

}  // namespace rehmc::stein
