// Excursions of a series: how much the largest says of those that a run has not seen.
#include "rehmc/estimate/rare_events.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "rehmc/estimate/distributions.hpp"

namespace rehmc {

namespace {

/// Just below 1/4, where the error of a variance ceases to exist: runs are too short to tell the
/// shape of their few excursions. With this one 95% intervals for means of independent draws whose
/// logarithms have sds of 1 to 2 cover 94 to 97%.
constexpr double shape = 2.0 / 9;
constexpr double unseen_square = 1 / (1 - 2 * shape);
constexpr double unseen_fourth = 1 / (1 - 4 * shape);

/// Long enough that neighbours hardly depend on each other, short enough that they are many.
std::size_t stretch(const ChainTable& series, double time) {
  constexpr std::size_t fewest_per_chain = 12;
  const std::size_t most = std::max<std::size_t>(1, series.iterations / fewest_per_chain);
  return std::clamp(static_cast<std::size_t>(std::ceil(2 * time)), std::size_t{1}, most);
}

}  // namespace

MeanError with_unseen_events(const ChainTable& series, double squared_error) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double power = 0;
  for (const double value : series.values) power += value * value;
  if (!(power > 0) || !(squared_error > 0)) return {squared_error, infinite};
  const auto count = static_cast<double>(series.values.size());
  const std::size_t length = stretch(series, squared_error * count * count / power);
  double squares = 0;
  double cubes = 0;
  double fourths = 0;
  double largest = 0;
  for (std::size_t c = 0; c < series.chains; ++c) {
    const std::span<const double> chain = series.chain(c);
    for (std::size_t begin = 0; begin + length <= chain.size(); begin += length) {
      double sum = 0;
      for (const double value : chain.subspan(begin, length)) sum += value;
      const double square = sum * sum;
      squares += square;
      cubes += square * sum;
      fourths += square * square;
      largest = std::max(largest, square);
    }
  }
  if (!(squares > 0)) return {squared_error, infinite};
  const double raised = squares + unseen_square * largest;
  const double skewness = cubes / std::pow(squares, 1.5);
  return {squared_error * (raised / squares) * (1 + 2 * skewness * skewness),
          2 * raised * raised / (fourths + unseen_fourth * largest * largest)};
}

double student_widening(double degrees) {
  // Less than one degree of freedom says no more than one does.
  constexpr double normal = 1.959963984540054;
  constexpr double outside = 0.05;
  if (!std::isfinite(degrees)) return 1;
  return two_sided_student_quantile(outside, std::max(1.0, degrees)) / normal;
}

}  // namespace rehmc
