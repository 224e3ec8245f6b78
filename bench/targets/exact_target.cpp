// The list of targets with known truth, and how they are checked.
#include "exact_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "binomial_groups.hpp"
#include "correlated_regression.hpp"
#include "gaussian_process.hpp"
#include "growth_curve.hpp"
#include "models/banana.hpp"
#include "models/coordinates.hpp"
#include "models/log_exponential.hpp"
#include "models/student_t.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/model/check_gradient.hpp"
#include "schools.hpp"
#include "small_logistic.hpp"

namespace rehmc::bench {

namespace {

/// A built-in model that knows its own moments and probabilities.
template <class Model>
ExactTarget known(const Model& model) {
  ExactTarget target{model, {}};
  for (std::size_t i = 0; i < model.dimension(); ++i) {
    ExactValues& values = target.truth.emplace_back();
    values.mean = model.mean(i);
    values.sd = std::sqrt(model.variance(i));
    values.rare_share = std::nan("");
    for (std::size_t q = 0; q < values.quantiles.size(); ++q) {
      values.quantiles[q] = exact_quantile(model, i, standard_probabilities[q]);
    }
  }
  return target;
}

double difference(const ExactValues& a, const ExactValues& b) {
  double most = std::max(std::abs(a.mean - b.mean), std::abs(a.sd - b.sd));
  for (std::size_t q = 0; q < a.quantiles.size(); ++q) {
    most = std::max(most, std::abs(a.quantiles[q] - b.quantiles[q]));
  }
  return most / a.sd;
}

void check_gradients(const std::string& label, const ExactTarget& made) {
  Stream stream({1, 0, 0}, Purpose::test);
  std::vector<double> x(made.truth.size());
  constexpr int places = 5;
  for (int place = 0; place < places; ++place) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = made.truth[i].mean + made.truth[i].sd * stream.normal();
    }
    for (const DerivativeCheck& check : check_gradient(made.density, x)) {
      if (check.ok) continue;
      throw std::runtime_error(fmt::format("{}: the derivative by {} is {}, by differences {}",
                                           label, check.name, check.analytic, check.numeric));
    }
  }
}

}  // namespace

const std::vector<NamedTarget>& exact_targets() {
  static const std::vector<NamedTarget> targets{
      {"binomial groups", 14, binomial_groups},
      {"growth curve", 4, growth_curve},
      {"gaussian process", 3, gaussian_process},
      {"correlated regression", 10, correlated_regression},
      {"skewed", 20, [](double) { return known(LogExponential(20)); }},
      {"banana", 2, [](double) { return known(Banana()); }},
      {"eight schools", 10, schools},
      {"student t(5)", 10, [](double) { return known(StudentT(10, 5)); }},
      {"small logistic", 4, small_logistic},
  };
  return targets;
}

double check_target(const NamedTarget& target, const ExactTarget& made) {
  check_gradients(target.label, made);
  constexpr double coarser = 0.8;
  constexpr double most = 1e-4;
  const ExactTarget again = target.make(coarser);
  double worst = 0;
  for (std::size_t i = 0; i < made.truth.size(); ++i) {
    worst = std::max(worst, difference(made.truth[i], again.truth[i]));
  }
  if (worst <= most) return worst;
  throw std::runtime_error(
      fmt::format("{}: the truth differs by {} sds from that of coarser quadrature, more than {}",
                  target.label, worst, most));
}

}  // namespace rehmc::bench
