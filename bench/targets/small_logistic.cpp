// The data of the small logistic regression; its truth by quadrature over all coefficients.
#include "small_logistic.hpp"

#include <vector>

#include "grid.hpp"
#include "models/logistic_regression.hpp"

namespace rehmc::bench {

namespace {

constexpr std::size_t coefficients = 4;

LogisticData simulated() {
  LogisticData data;
  data.observations = 40;
  data.predictors = coefficients;
  data.x = {
      1, -0.45, -1.86, 0, 1, 0.30,  0.53,  0, 1, 1.81,  -0.01, 1, 1, 0.11,  -1.07, 0,
      1, 0.57,  1.01,  1, 1, -3.26, 0.00,  1, 1, 0.49,  0.74,  1, 1, -0.87, -1.18, 0,
      1, -0.86, 1.94,  0, 1, 0.03,  1.35,  0, 1, 1.98,  -0.10, 1, 1, -0.10, 0.66,  1,
      1, -0.51, -0.73, 0, 1, 0.52,  -0.09, 1, 1, 0.12,  -1.23, 0, 1, 0.57,  0.66,  0,
      1, 0.28,  -0.98, 1, 1, -0.79, 1.53,  1, 1, 1.64,  -1.43, 0, 1, -0.82, 0.26,  1,
      1, 0.35,  0.22,  1, 1, 0.47,  -1.15, 1, 1, 0.43,  -0.69, 1, 1, -1.12, 1.87,  0,
      1, 0.16,  -0.08, 1, 1, -0.65, 0.52,  1, 1, 0.06,  -0.87, 0, 1, 1.11,  0.14,  0,
      1, 0.06,  0.52,  0, 1, 1.25,  1.39,  0, 1, 2.21,  0.75,  1, 1, 1.48,  -0.98, 0,
      1, 1.33,  1.12,  0, 1, -1.20, -0.17, 1, 1, -0.62, -0.91, 1, 1, 1.93,  -0.12, 0,
      1, 0.21,  0.54,  0, 1, -1.36, 2.12,  0, 1, 0.30,  0.34,  0, 1, -0.63, 0.15,  1,
  };
  data.y = {1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0,
            0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0};
  return data;
}

}  // namespace

ExactTarget small_logistic(double fineness) {
  LogisticRegression model(simulated(), 2.5);
  std::vector<double> gradient(coefficients);
  const Grid::Function log_density = [&](std::span<const double> x) { return model(x, gradient); };
  const std::vector<Axis> axes(coefficients, Axis{-18, 18, points_of(50, fineness)});
  const Grid grid(Grid::fitted(axes, log_density), log_density);
  ExactTarget target{model, {}};
  for (std::size_t k = 0; k < coefficients; ++k) {
    target.truth.push_back(grid.marginal(k).values());
  }
  return target;
}

}  // namespace rehmc::bench
