// Independent Student-t coordinates.
#include "models/student_t.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/fast_math.hpp"
#include "models/quadrature.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

StudentT::StudentT(std::size_t dimension, double degrees_of_freedom)
    : dimension_(dimension), degrees_of_freedom_(degrees_of_freedom) {
  require_setting("dimension of the Student-t", static_cast<double>(dimension), at_least(1));
  require_setting("degrees of freedom of the Student-t", degrees_of_freedom, positive_finite());
}

double StudentT::operator()(std::span<const double> x, std::span<double> gradient) const {
  const double freedom = degrees_of_freedom_;
  const double* const position = x.data();
  double* const derivative = gradient.data();
  const double sum = hot_loop([=, d = dimension_] {
    return lane_sum(d, [=](std::size_t i) {
      const double square = position[i] * position[i];
      derivative[i] = -(freedom + 1) * position[i] / (freedom + square);
      return fast_log1p(square / freedom);
    });
  });
  return -0.5 * (freedom + 1) * sum;
}

// The polar method of Bailey (1994), Mathematics of Computation 62: with (u, v) uniform on the unit
// disc and w = u^2 + v^2, u sqrt(n (w^(-2/n) - 1) / w) is Student-t with n degrees of freedom.
void StudentT::sample(Stream& stream, std::span<double> x) const {
  for (double& entry : x) {
    double u = 0;
    double w = 0;
    do {
      u = 2 * stream.uniform() - 1;
      const double v = 2 * stream.uniform() - 1;
      w = u * u + v * v;
    } while (w > 1);
    const double excess = std::expm1(-2 / degrees_of_freedom_ * std::log(w));
    entry = u * std::sqrt(degrees_of_freedom_ * excess / w);
  }
}

double StudentT::mean(std::size_t /*coordinate*/) const {
  return degrees_of_freedom_ > 1 ? 0 : std::numeric_limits<double>::quiet_NaN();
}

double StudentT::variance(std::size_t /*coordinate*/) const {
  if (degrees_of_freedom_ > 2) return degrees_of_freedom_ / (degrees_of_freedom_ - 2);
  return degrees_of_freedom_ > 1 ? std::numeric_limits<double>::infinity()
                                 : std::numeric_limits<double>::quiet_NaN();
}

double StudentT::cumulative(std::size_t /*coordinate*/, double value) const {
  // With value = sqrt(n) tan(a), the density is proportional to cos(a)^(n - 1).
  const double n = degrees_of_freedom_;
  const double factor =
      std::exp(std::lgamma(0.5 * (n + 1)) - std::lgamma(0.5 * n)) / std::sqrt(std::numbers::pi);
  const double angle = std::atan(value / std::sqrt(n));
  return 0.5 + factor * integrate([n](double a) { return std::pow(std::cos(a), n - 1); }, 0, angle);
}

namespace {

Density make_student_t(DataReader& data) {
  const std::size_t dimension = data.dimension(10);
  return StudentT(dimension, data.number("degrees_of_freedom", 5, between(1e-3, 1e6)));
}

}  // namespace

ModelEntries student_t_entries() {
  const std::string help =
      "dimension           default 10\n"
      "degrees_of_freedom  default 5; 1 is the Cauchy, which has no mean";
  return {{.place = 80,
           .info = {.name = "student-t",
                    .summary = "independent heavy-tailed coordinates",
                    .description =
                        "x_i ~ Student-t, centred at 0 with scale 1. Parameters: x.1, ..., x.d.",
                    .data_help = help,
                    .data_example = R"({"dimension": 10, "degrees_of_freedom": 5})"},
           .keys = {"dimension", "degrees_of_freedom"},
           .version = 1,
           .make = make_student_t}};
}

}  // namespace rehmc
