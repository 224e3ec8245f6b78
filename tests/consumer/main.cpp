// A user's program: it must build with only rehmc, and get correct numbers from it.
#include <cmath>
#include <cstdio>
#include <span>

#include "rehmc/core/error.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/summary.hpp"

int main() {
  // A standard normal in two dimensions: l(x) = -|x|^2 / 2, with gradient -x.
  rehmc::FunctionDensity normal(2, [](std::span<const double> x, std::span<double> gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = -x[i];
      sum += x[i] * x[i];
    }
    return -sum / 2;
  });
  rehmc::SampleSettings settings;
  settings.seed = 1;

  // Exceptions of the library can be caught here.
  try {
    settings.draws = 0;
    rehmc::sample(normal, settings);
    std::printf("0 draws were not refused\n");
    return 1;
  } catch (const rehmc::ConfigError& error) {
    std::printf("refused: %s\n", error.what());
  }

  // With its own error bar every mean and sd must be within 5 of them: false alarm 8 * 6e-7.
  settings.draws = 500;
  bool right = true;
  for (const auto& row : rehmc::summarise(rehmc::sample(normal, settings))) {
    for (const rehmc::Estimate& estimate : {row.plain, row.recycled.value()}) {
      std::printf("%s: mean %.4f +- %.4f, sd %.4f +- %.4f\n", row.name.c_str(), estimate.mean,
                  estimate.mcse_mean, estimate.sd, estimate.mcse_sd);
      right = right && std::abs(estimate.mean) < 5 * estimate.mcse_mean &&
              std::abs(estimate.sd - 1) < 5 * estimate.mcse_sd && estimate.mcse_mean < 0.1;
    }
  }
  return right ? 0 : 1;
}
