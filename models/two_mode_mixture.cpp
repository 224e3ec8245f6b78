// Two equal normal modes a given distance apart.
#include "models/two_mode_mixture.hpp"

#include <cmath>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/normal_distribution.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

TwoModeMixture::TwoModeMixture(const TwoModeSettings& settings)
    : dimension_(settings.dimension), half_distance_(0.5 * settings.distance) {
  require_setting("dimension of the mixture", static_cast<double>(settings.dimension), at_least(1));
  require_setting("distance of the modes", settings.distance, between(0, 1000));
}

double TwoModeMixture::operator()(std::span<const double> x, std::span<double> gradient) const {
  const double* const position = x.data();
  double* const derivative = gradient.data();
  const double sum = hot_loop([=, d = dimension_] {
    return lane_sum(d, [=](std::size_t i) {
      derivative[i] = -position[i];
      return position[i] * position[i];
    });
  });
  // log cosh t + log 2 = |t| + log(1 + exp(-2 |t|)), which never overflows.
  const double t = std::abs(half_distance_ * x[0]);
  gradient[0] += half_distance_ * std::tanh(half_distance_ * x[0]);
  return t + std::log1p(std::exp(-2 * t)) - 0.5 * sum;
}

void TwoModeMixture::sample(Stream& stream, std::span<double> x) const {
  stream.fill_normal(x);
  x[0] += stream.chance(0.5) ? half_distance_ : -half_distance_;
}

double TwoModeMixture::variance(std::size_t coordinate) const {
  return coordinate == 0 ? 1 + half_distance_ * half_distance_ : 1;
}

double TwoModeMixture::cumulative(std::size_t coordinate, double value) const {
  const double centre = coordinate == 0 ? half_distance_ : 0;
  return 0.5 * (normal_cumulative(value - centre) + normal_cumulative(value + centre));
}

namespace {

Density make_two_mode_mixture(DataReader& data) {
  TwoModeSettings settings;
  settings.dimension = data.dimension(settings.dimension);
  settings.distance = data.number("distance", settings.distance, between(0, 1000));
  return TwoModeMixture(settings);
}

}  // namespace

ModelEntries two_mode_mixture_entries() {
  const std::string description =
      "x ~ N(-m/2, 1) or N(m/2, 1) in the first coordinate, each with probability 1/2, and\n"
      "N(0, 1) in all others, where m is the distance: with 4, chains cross occasionally,\n"
      "with 8 hardly ever. Parameters: x.1, ..., x.d.";
  const std::string help =
      "dimension  default 2\n"
      "distance   of the modes in standard deviations, default 4, at most 1000";
  return {{.place = 100,
           .info = {.name = "two-mode-mixture",
                    .summary = "two normal modes a few standard deviations apart",
                    .description = description,
                    .data_help = help,
                    .data_example = R"({"dimension": 10, "distance": 6})"},
           .keys = {"dimension", "distance"},
           .version = 1,
           .make = make_two_mode_mixture}};
}

}  // namespace rehmc
