// A program of somebody else: it must build with nothing but rehmc, and get right numbers from it.
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

#include "rehmc/core/random.hpp"
#include "rehmc/model/guard.hpp"
#include "rehmc/model/log_density.hpp"

int main() {
  // A standard normal in two dimensions: l(x) = -|x|^2 / 2, with gradient -x.
  const auto normal = [](std::span<const double> x, std::span<double> gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = -x[i];
      sum += x[i] * x[i];
    }
    return -sum / 2;
  };
  rehmc::Guard guard(rehmc::Density(rehmc::FunctionDensity(2, normal)));

  const std::array<double, 2> x{3, 4};
  std::array<double, 2> gradient{};
  const double value = guard(x, gradient);
  if (value != -12.5 || gradient[0] != -3 || gradient[1] != -4) {
    std::printf("log density %g with gradient (%g, %g), not -12.5 with (-3, -4)\n", value,
                gradient[0], gradient[1]);
    return 1;
  }

  rehmc::Stream stream({.seed = 1, .chain = 2, .iteration = 3}, rehmc::Purpose::test);
  const double uniform = stream.uniform();
  const double draw = stream.normal();
  if (!(uniform > 0 && uniform < 1) || !std::isfinite(draw)) {
    std::printf("uniform %g outside of (0, 1), or normal %g not finite\n", uniform, draw);
    return 1;
  }
  std::printf("rehmc works here\n");
  return 0;
}
