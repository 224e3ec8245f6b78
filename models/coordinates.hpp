// A density that reports its coordinates, whatever else it could report; and their exact quantiles.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rehmc/model/log_density.hpp"

namespace rehmc {

struct Coordinates {
  Density density;

  double operator()(std::span<const double> x, std::span<double> gradient) {
    return density(x, gradient);
  }
  std::size_t dimension() const { return density.dimension(); }
  std::vector<std::string> names() const { return density.names(); }
};

/// By bisection of a model's distribution function, within 20 sds of its mean.
template <class Model>
double exact_quantile(const Model& model, std::size_t coordinate, double probability) {
  const double reach = 20 * std::sqrt(model.variance(coordinate));
  double low = model.mean(coordinate) - reach;
  double high = model.mean(coordinate) + reach;
  constexpr int enough = 70;
  for (int step = 0; step < enough; ++step) {
    const double middle = (low + high) / 2;
    (model.cumulative(coordinate, middle) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace rehmc
