// Runs of independent draws from densities on the line, for tests of tails.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/estimate/recycled.hpp"
#include "rehmc/sharpen/sharpen.hpp"

namespace rehmc::testing {

/// A density on the line, up to its exact draws.
struct Line {
  std::function<double(Stream&)> draw;
  std::function<double(double)> score;
};

inline Line normal_line() {
  return {[](Stream& numbers) { return numbers.normal(); }, [](double x) { return -x; }};
}

inline Line logistic_line() {
  return {[](Stream& numbers) {
            const double p = numbers.uniform();
            return std::log(p / (1 - p));
          },
          [](double x) { return -std::tanh(x / 2); }};
}

/// The logarithm of an exponential variable: the left tail is exponential.
inline Line skewed_line() {
  return {[](Stream& numbers) { return std::log(-std::log(1 - numbers.uniform())); },
          [](double x) { return 1 - std::exp(x); }};
}

/// Independent draws in four chains of one state a draw.
struct LineRun {
  static constexpr std::size_t chains = 4;
  std::vector<std::vector<double>> positions;
  std::vector<std::vector<float>> gradients;
  std::vector<double> weights;
  std::vector<std::size_t> begins;
  std::vector<GradientStates> states;

  LineRun(const Line& line, std::size_t draws, std::uint64_t replicate)
      : positions(chains), gradients(chains), weights(draws, 1.0), begins(draws + 1) {
    std::iota(begins.begin(), begins.end(), std::size_t{0});
    Stream numbers({.seed = 40, .chain = 0, .iteration = replicate}, Purpose::test);
    for (std::size_t c = 0; c < chains; ++c) {
      for (std::size_t n = 0; n < draws; ++n) {
        const double x = line.draw(numbers);
        positions[c].push_back(x);
        gradients[c].push_back(static_cast<float>(line.score(x)));
      }
      states.push_back({positions[c], gradients[c], weights, begins});
    }
  }
};

/// A function of the coordinate at all states.
struct LineScalar {
  std::vector<std::vector<double>> values;
  std::vector<Series> series;
  ScalarStates scalar;

  LineScalar(const LineRun& run, const std::function<double(double)>& function) {
    for (const auto& chain : run.positions) {
      std::vector<double>& of_chain = values.emplace_back();
      for (const double x : chain) of_chain.push_back(function(x));
    }
    for (const auto& chain : values) series.push_back({chain.data(), chain.size(), 1});
    scalar.coordinate = 0;
    scalar.values = series;
    scalar.known = plain_estimate(series);
  }
};

}  // namespace rehmc::testing
