// Excursions of a series: how much the largest says of those that a run has not seen.
#include "rehmc/estimate/rare_events.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "rehmc/estimate/distributions.hpp"

namespace rehmc {

namespace {

/// Just below 1/4, where the error of a variance ceases to exist: runs are too short to tell the
/// shape of their few excursions. With this one 95% intervals for means of independent draws whose
/// logarithms have sds of 1 to 2 cover 94 to 97%.
constexpr double assumed_shape = 2.0 / 9;
static_assert(usual_growth * (1 - 2 * assumed_shape) == 1);
constexpr double unseen_fourth = 1 / (1 - 4 * assumed_shape);

/// Long enough that neighbours hardly depend on each other, short enough that they are many; 0 for
/// a constant series.
std::size_t stretch(const ChainTable& series, double squared_error) {
  constexpr std::size_t fewest_per_chain = 12;
  const double power = squares_about(series.values, 0);
  if (!(power > 0) || !(squared_error > 0)) return 0;
  const auto count = static_cast<double>(series.values.size());
  const double time = squared_error * count * count / power;
  const std::size_t most = std::max<std::size_t>(1, series.iterations / fewest_per_chain);
  return std::clamp(static_cast<std::size_t>(std::ceil(2 * time)), std::size_t{1}, most);
}

/// Sums over stretches of every chain.
std::vector<double> excursions_of(const ChainTable& series, std::size_t length) {
  std::vector<double> sums;
  for (std::size_t c = 0; c < series.chains; ++c) {
    const std::span<const double> chain = series.chain(c);
    for (std::size_t begin = 0; begin + length <= chain.size(); begin += length) {
      const auto some = chain.subspan(begin, length);
      sums.push_back(std::accumulate(some.begin(), some.end(), 0.0));
    }
  }
  return sums;
}

}  // namespace

MeanError with_unseen_events(const ChainTable& series, double squared_error, double expected) {
  const MeanError certain{squared_error, std::numeric_limits<double>::infinity(), 0};
  const std::size_t length = stretch(series, squared_error);
  if (length == 0) return certain;
  double squares = 0;
  double cubes = 0;
  double fourths = 0;
  double largest = 0;
  for (const double sum : excursions_of(series, length)) {
    const double square = sum * sum;
    squares += square;
    cubes += square * sum;
    fourths += square * square;
    largest = std::max(largest, square);
  }
  if (!(squares > 0)) return certain;
  const double unseen = std::max(usual_growth * largest, expected);
  const double raised = squares + unseen;
  const double skewness = cubes / std::pow(squares, 1.5);
  constexpr double kurtosis = unseen_fourth / (usual_growth * usual_growth);
  return {squared_error * (raised / squares) * (1 + 2 * skewness * skewness),
          2 * raised * raised / (fourths + kurtosis * unseen * unseen), expected / squares};
}

double unseen_remainder(const ChainTable& target, double squared_error_of_target,
                        const ChainTable& left, const UnseenExcursion& unseen) {
  const std::size_t length = stretch(target, squared_error_of_target);
  if (length == 0) return 0;
  const std::vector<double> whole = excursions_of(target, length);
  const std::vector<double> rest = excursions_of(left, length);
  constexpr std::size_t several = 5;
  std::vector<std::size_t> order(whole.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t count = std::min(several, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](std::size_t a, std::size_t b) { return std::abs(whole[a]) > std::abs(whole[b]); });
  order.resize(count);
  if (order.empty()) return 0;
  double unexplained = 0;
  for (const std::size_t k : order) {
    if (whole[k] != 0) unexplained = std::max(unexplained, std::pow(rest[k] / whole[k], 2));
  }
  // What leaves nothing of the largest but rounding is an identity, which holds beyond them.
  constexpr double rounding = 1e-8;
  if (unexplained > rounding) unexplained = std::max(unexplained, unseen.least_left);
  return unseen.growth * unexplained * std::pow(whole[order.front()], 2);
}

double student_widening(double degrees) {
  // Less than one degree of freedom says no more than one does.
  constexpr double normal = 1.959963984540054;
  constexpr double outside = 0.05;
  if (!std::isfinite(degrees)) return 1;
  return two_sided_student_quantile(outside, std::max(1.0, degrees)) / normal;
}

}  // namespace rehmc
