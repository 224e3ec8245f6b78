// The banana of the paper's figure 1.
#include "models/banana.hpp"

#include <algorithm>
#include <cmath>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/normal_distribution.hpp"
#include "models/quadrature.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {
namespace {

constexpr double noise_variance = 0.4 * 0.4;
/// Of y given x_2, with x_1 integrated out.
constexpr double total_variance = 1 + noise_variance;
/// Of x_1 given x_2 and y.
constexpr double conditional_variance = noise_variance / total_variance;

}  // namespace

// With s = x_2^2, the marginal density of x_2 is proportional to
//   exp(-s/2 - (y - s)^2 / (2 total)) = const exp(-(s - centre)^2 / (2 total)),
// centre = y - total / 2.
Banana::Banana(double y)
    : y_(y),
      centre_(y - total_variance / 2),
      mode_(0.5 * (centre_ + std::sqrt(centre_ * centre_ + 2 * total_variance))) {
  require_setting("y of the banana", y, between(-1e3, 1e3));
}

double Banana::operator()(std::span<const double> x, std::span<double> gradient) const {
  const double residual = y_ - x[0] - x[1] * x[1];
  const double pull = residual / noise_variance;
  gradient[0] = -x[0] + pull;
  gradient[1] = -x[1] + 2 * x[1] * pull;
  return -0.5 * (x[0] * x[0] + x[1] * x[1] + residual * pull);
}

// Proposes x_2 ~ N(0, mode). The ratio of the marginal density to the proposal's is largest at
// x_2^2 = mode, the positive root of mode (mode - centre) = total / 2, where its derivative in s
// vanishes; so accepting with the ratio over its maximum is exact, for every y.
void Banana::sample(Stream& stream, std::span<double> x) const {
  const double log_maximum = -std::pow(mode_ - centre_, 2) / (2 * total_variance) + 0.5;
  for (;;) {
    const double x2 = std::sqrt(mode_) * stream.normal();
    const double s = x2 * x2;
    const double log_ratio = -std::pow(s - centre_, 2) / (2 * total_variance) + s / (2 * mode_);
    if (std::log(stream.uniform()) >= log_ratio - log_maximum) continue;
    x[0] = (y_ - s) / total_variance + std::sqrt(conditional_variance) * stream.normal();
    x[1] = x2;
    return;
  }
}

/// The density of x_2 up to a constant; largest about 1.
double Banana::marginal(double x2) const {
  const double best = centre_ > 0 ? 0 : -centre_;
  const double distance = x2 * x2 - centre_;
  return std::exp((best * best - distance * distance) / (2 * total_variance));
}

/// E f(x_2).
template <class Function>
double Banana::expectation(Function&& function) const {
  // Beyond this the density is below exp(-100).
  const double reach = std::sqrt((centre_ > 0 ? centre_ : 0) + 16);
  const auto density = [this](double x2) { return marginal(x2); };
  return integrate([&](double x2) { return function(x2) * marginal(x2); }, -reach, reach) /
         integrate(density, -reach, reach);
}

double Banana::mean(std::size_t coordinate) const {
  if (coordinate == 1) return 0;
  return expectation([this](double x2) { return (y_ - x2 * x2) / total_variance; });
}

double Banana::variance(std::size_t coordinate) const {
  if (coordinate == 1) return expectation([](double x2) { return x2 * x2; });
  const double centre = mean(0);
  return conditional_variance + expectation([&](double x2) {
           return std::pow((y_ - x2 * x2) / total_variance - centre, 2);
         });
}

double Banana::cumulative(std::size_t coordinate, double value) const {
  if (coordinate == 0) {
    return expectation([&](double x2) {
      return normal_cumulative((value - (y_ - x2 * x2) / total_variance) /
                               std::sqrt(conditional_variance));
    });
  }
  // By symmetry, from 0 outwards.
  const double reach = std::sqrt((centre_ > 0 ? centre_ : 0) + 16);
  const double end = std::min(std::abs(value), reach);
  const auto density = [this](double x2) { return marginal(x2); };
  const double half = 0.5 * integrate(density, 0, end) / integrate(density, 0, reach);
  return value < 0 ? 0.5 - half : 0.5 + half;
}

ModelEntries banana_entries() {
  const std::string description =
      "x_1, x_2 ~ N(0, 1) and y ~ N(x_1 + x_2^2, 0.4^2): figure 1 of Nishimura and Dunson (2020).\n"
      "Parameters: x.1, x.2.";
  return {{.place = 40,
           .info = {.name = "banana",
                    .summary = "two normals, given one noisy observation of x_1 + x_2^2",
                    .description = description,
                    .data_help = "y  the observation, default 1",
                    .data_example = R"({"y": 1})"},
           .keys = {"y"},
           .version = 1,
           .make = [](DataReader& data) -> Density {
             return Banana(data.number("y", 1, between(-1e3, 1e3)));
           }}};
}

}  // namespace rehmc
