// A log density for mechanical tests: not quadratic, coupled, skewed, and cheap.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace rehmc::testing {

/// -sum x_i^2/2 + x_i^4/40 + 0.3 sin(x_i) x_{i+1}.
class Bumpy {
 public:
  explicit Bumpy(std::size_t dimension) : dimension_(dimension) {}
  std::size_t dimension() const { return dimension_; }

  double operator()(std::span<const double> x, std::span<double> gradient) const {
    double value = 0;
    for (std::size_t i = 0; i < dimension_; ++i) {
      const double square = x[i] * x[i];
      value -= 0.5 * square + 0.025 * square * square;
      gradient[i] = -x[i] - 0.1 * square * x[i];
    }
    for (std::size_t i = 0; i + 1 < dimension_; ++i) {
      value -= 0.3 * std::sin(x[i]) * x[i + 1];
      gradient[i] -= 0.3 * std::cos(x[i]) * x[i + 1];
      gradient[i + 1] -= 0.3 * std::sin(x[i]);
    }
    return value;
  }

 private:
  std::size_t dimension_;
};

}  // namespace rehmc::testing
