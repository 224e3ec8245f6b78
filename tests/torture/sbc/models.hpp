// Models with exact simulators of prior and data, for simulation-based calibration.
//
// A model draws its parameters from the prior, simulates data at them in its constructor, and is a
// log posterior with its gradient. Its log likelihood is the quantity that depends on the data.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

#include "rehmc/core/random.hpp"

namespace rehmc::sbc {

/// Adds the log density of N(0, sd^2) at x, without constants, and its derivative.
inline double normal_prior(double x, double sd, double& derivative) {
  derivative -= x / (sd * sd);
  return -0.5 * x * x / (sd * sd);
}

/// Five observations of N(mu, sigma^2): mu ~ N(0, 1), log sigma ~ N(0, 0.5^2).
class MeanAndScale {
 public:
  static constexpr std::string_view name = "mean-and-scale";
  static constexpr std::size_t parameters = 2;

  static void draw_prior(Stream& stream, std::span<double> x) {
    x[0] = stream.normal();
    x[1] = scale_sd * stream.normal();
  }
  MeanAndScale(Stream& stream, std::span<const double> x) {
    for (double& y : y_) y = x[0] + std::exp(x[1]) * stream.normal();
  }
  static std::size_t dimension() { return parameters; }
  double log_likelihood(std::span<const double> x) const {
    std::array<double, parameters> ignored{};
    return add_likelihood(x, ignored);
  }
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    gradient[0] = gradient[1] = 0;
    return normal_prior(x[0], 1, gradient[0]) + normal_prior(x[1], scale_sd, gradient[1]) +
           add_likelihood(x, gradient);
  }

 private:
  static constexpr double scale_sd = 0.5;

  double add_likelihood(std::span<const double> x, std::span<double> gradient) const {
    const double precision = std::exp(-2 * x[1]);
    double value = 0;
    for (const double y : y_) {
      const double residual = y - x[0];
      value -= x[1] + 0.5 * residual * residual * precision;
      gradient[0] += residual * precision;
      gradient[1] += residual * residual * precision - 1;
    }
    return value;
  }

  std::array<double, 5> y_{};
};

/// Twelve observations of a logistic regression: intercept and slope ~ N(0, 1).
class Logistic {
 public:
  static constexpr std::string_view name = "logistic";
  static constexpr std::size_t parameters = 2;

  static void draw_prior(Stream& stream, std::span<double> x) {
    for (double& each : x) each = stream.normal();
  }
  Logistic(Stream& stream, std::span<const double> x) {
    for (std::size_t i = 0; i < y_.size(); ++i) {
      y_[i] = stream.chance(1 / (1 + std::exp(-linear(x, i)))) ? 1 : 0;
    }
  }
  static std::size_t dimension() { return parameters; }
  double log_likelihood(std::span<const double> x) const {
    std::array<double, parameters> ignored{};
    return add_likelihood(x, ignored);
  }
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    gradient[0] = gradient[1] = 0;
    return normal_prior(x[0], 1, gradient[0]) + normal_prior(x[1], 1, gradient[1]) +
           add_likelihood(x, gradient);
  }

 private:
  /// The covariate runs from -2.2 to 2.2.
  static double covariate(std::size_t i) { return 0.4 * static_cast<double>(i) - 2.2; }
  static double linear(std::span<const double> x, std::size_t i) {
    return x[0] + x[1] * covariate(i);
  }

  double add_likelihood(std::span<const double> x, std::span<double> gradient) const {
    double value = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const double eta = linear(x, i);
      value +=
          y_[i] * eta - (eta > 0 ? eta + std::log1p(std::exp(-eta)) : std::log1p(std::exp(eta)));
      const double residual = y_[i] - 1 / (1 + std::exp(-eta));
      gradient[0] += residual;
      gradient[1] += residual * covariate(i);
    }
    return value;
  }

  std::array<double, 12> y_{};
};

/// Four groups, non-centred: y_j ~ N(mu + tau z_j, 1) with mu, z_j ~ N(0, 1), log tau ~ N(0,
/// 0.7^2).
class Hierarchy {
 public:
  static constexpr std::string_view name = "hierarchy";
  static constexpr std::size_t parameters = 6;

  static void draw_prior(Stream& stream, std::span<double> x) {
    for (double& each : x) each = stream.normal();
    x[1] *= scale_sd;
  }
  Hierarchy(Stream& stream, std::span<const double> x) {
    for (std::size_t j = 0; j < y_.size(); ++j) {
      y_[j] = x[0] + std::exp(x[1]) * x[2 + j] + stream.normal();
    }
  }
  static std::size_t dimension() { return parameters; }
  double log_likelihood(std::span<const double> x) const {
    std::array<double, parameters> ignored{};
    return add_likelihood(x, ignored);
  }
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    double value = 0;
    for (std::size_t i = 0; i < parameters; ++i) {
      gradient[i] = 0;
      value += normal_prior(x[i], i == 1 ? scale_sd : 1, gradient[i]);
    }
    return value + add_likelihood(x, gradient);
  }

 private:
  static constexpr double scale_sd = 0.7;

  double add_likelihood(std::span<const double> x, std::span<double> gradient) const {
    const double tau = std::exp(x[1]);
    double value = 0;
    for (std::size_t j = 0; j < y_.size(); ++j) {
      const double residual = y_[j] - x[0] - tau * x[2 + j];
      value -= 0.5 * residual * residual;
      gradient[0] += residual;
      gradient[1] += residual * tau * x[2 + j];
      gradient[2 + j] += residual * tau;
    }
    return value;
  }

  std::array<double, 4> y_{};
};

}  // namespace rehmc::sbc
