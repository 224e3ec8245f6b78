// Neal's funnel.
#include "models/funnel.hpp"

#include <cmath>
#include <numbers>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/normal_distribution.hpp"
#include "models/quadrature.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {
namespace {

constexpr double scale = 3;

}  // namespace

Funnel::Funnel(std::size_t dimension) : dimension_(dimension) {
  require_setting("dimension of the funnel", static_cast<double>(dimension), at_least(2));
}

double Funnel::operator()(std::span<const double> x, std::span<double> gradient) const {
  const double v = x[0];
  const double precision = std::exp(-v);
  const double* const others = x.data() + 1;
  double* const derivative = gradient.data() + 1;
  const double sum = hot_loop([=, count = dimension_ - 1] {
    return lane_sum(count, [=](std::size_t i) {
      derivative[i] = -precision * others[i];
      return others[i] * others[i];
    });
  });
  const double half_count = 0.5 * static_cast<double>(dimension_ - 1);
  const double half_sum = 0.5 * precision * sum;
  gradient[0] = -v / (scale * scale) - half_count + half_sum;
  return -0.5 * v * v / (scale * scale) - half_count * v - half_sum;
}

std::vector<std::string> Funnel::names() const {
  std::vector<std::string> names{"v"};
  for (std::size_t i = 1; i < dimension_; ++i) names.push_back("x." + std::to_string(i));
  return names;
}

void Funnel::sample(Stream& stream, std::span<double> x) const {
  stream.fill_normal(x);
  x[0] *= scale;
  const double sd = std::exp(0.5 * x[0]);
  for (double& entry : x.subspan(1)) entry *= sd;
}

double Funnel::variance(std::size_t coordinate) const {
  return coordinate == 0 ? scale * scale : std::exp(0.5 * scale * scale);
}

double Funnel::cumulative(std::size_t coordinate, double value) const {
  if (coordinate == 0) return normal_cumulative(value / scale);
  const auto density_and_probability = [value](double z) {
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    return density * normal_cumulative(value * std::exp(-0.5 * scale * z));
  };
  return integrate(density_and_probability, -13, 13);
}

ModelEntries funnel_entries() {
  const std::string description =
      "v ~ N(0, 3^2) and x_i ~ N(0, exp(v)), exp(v) being the variance (Neal 2003, Slice\n"
      "sampling, section 8). No step size suits both mouth and neck: expect divergences.\n"
      "Parameters: v, x.1, ..., x.(d-1).";
  return {{.place = 50,
           .info = {.name = "funnel",
                    .summary = "Neal's funnel: one coordinate sets the scale of all others",
                    .description = description,
                    .data_help = "dimension  counts v too, default 10, at least 2",
                    .data_example = R"({"dimension": 10})"},
           .keys = {"dimension"},
           .version = 1,
           .make = [](DataReader& data) -> Density { return Funnel(data.dimension(10, 2)); }}};
}

}  // namespace rehmc
