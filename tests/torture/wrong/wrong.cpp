// How often a run notices that its model is wrong.
//
// Call: wrong RUNS SEED THREADS; or wrong --describe, which prints the faults, and the data of
// wrong.stan.
//
// The model is a logistic regression with five coefficients and one fault in the first of them.
// Prints one line for each fault: its name and size, in how many runs the spot check failed, the
// Stein check warned, the Stein check refused to sharpen, and there were divergences, and how far
// the mean of that coefficient is from the right one, in posterior sds.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/run_summary.hpp"

namespace rehmc::wrong {
namespace {

enum class Kind {
  none,
  gradient,    ///< the derivative is too large by this share
  jump,        ///< the log density rises by this much at the mean, and the gradient does not say so
  truncation,  ///< a hard bound this many sds below the mean
  noise,       ///< each call's derivative has a random relative error: steps cannot be reversed
};

struct Wrong {
  std::string_view name;
  Kind kind = Kind::none;
  double size = 0;
};

constexpr std::array<Wrong, 15> faults{{
    {"none", Kind::none, 0},
    {"gradient", Kind::gradient, 0.01},
    {"gradient", Kind::gradient, 0.03},
    {"gradient", Kind::gradient, 0.1},
    {"gradient", Kind::gradient, 0.3},
    {"jump", Kind::jump, 0.03},
    {"jump", Kind::jump, 0.1},
    {"jump", Kind::jump, 0.3},
    {"jump", Kind::jump, 1},
    {"truncation", Kind::truncation, 3},
    {"truncation", Kind::truncation, 2},
    {"truncation", Kind::truncation, 1},
    {"noise", Kind::noise, 0.01},
    {"noise", Kind::noise, 0.1},
    {"noise", Kind::noise, 0.3},
}};

constexpr std::size_t coefficients = 5;
constexpr std::size_t observations = 80;

/// Where the first coefficient is, by a run of the right model.
struct Place {
  double mean = 0;
  double sd = 1;
};

class Regression {
 public:
  Regression(const Wrong& wrong, const Place& place) : wrong_(wrong), place_(place) {
    Stream stream({1, 0, 0}, Purpose::test);
    for (std::size_t i = 0; i < observations; ++i) {
      double eta = 0;
      for (double& x : covariates_[i]) x = stream.normal();
      for (const double x : covariates_[i]) eta += 0.5 * x;
      success_[i] = stream.chance(1 / (1 + std::exp(-eta))) ? 1 : 0;
    }
  }

  static std::size_t dimension() { return coefficients; }

  double operator()(std::span<const double> x, std::span<double> gradient) {
    double value = 0;
    for (std::size_t k = 0; k < coefficients; ++k) {
      value -= 0.5 * x[k] * x[k];
      gradient[k] = -x[k];
    }
    for (std::size_t i = 0; i < observations; ++i) {
      double eta = 0;
      for (std::size_t k = 0; k < coefficients; ++k) eta += x[k] * covariates_[i][k];
      value += success_[i] * eta - std::log1p(std::exp(eta));
      const double residual = success_[i] - 1 / (1 + std::exp(-eta));
      for (std::size_t k = 0; k < coefficients; ++k) gradient[k] += residual * covariates_[i][k];
    }
    return value + spoil(x[0], gradient[0]);
  }

  void print_data() const {
    std::printf("\"n\": %zu, \"k\": %zu, \"x\": [", observations, coefficients);
    for (std::size_t i = 0; i < observations; ++i) {
      for (std::size_t k = 0; k < coefficients; ++k) {
        std::printf("%s%.17g", k > 0 ? ", " : i > 0 ? "], [" : "[", covariates_[i][k]);
      }
    }
    std::printf("]], \"y\": [");
    for (std::size_t i = 0; i < observations; ++i) {
      std::printf("%s%g", i > 0 ? ", " : "", success_[i]);
    }
    std::printf("]");
  }

 private:
  /// What the fault adds to the log density.
  double spoil(double x, double& derivative) {
    switch (wrong_.kind) {
      case Kind::none:
        return 0;
      case Kind::gradient:
        derivative *= 1 + wrong_.size;
        return 0;
      case Kind::jump:
        return x > place_.mean ? wrong_.size : 0;
      case Kind::truncation:
        return x < place_.mean - wrong_.size * place_.sd ? -std::numeric_limits<double>::infinity()
                                                         : 0;
      case Kind::noise:
        derivative *= 1 + wrong_.size * Stream({2, 0, calls_++}, Purpose::test).normal();
        return 0;
    }
    return 0;
  }

  Wrong wrong_;
  Place place_;
  std::uint64_t calls_ = 0;
  std::array<std::array<double, coefficients>, observations> covariates_{};
  std::array<double, observations> success_{};
};

SampleSettings settings_of(std::uint64_t seed) {
  SampleSettings settings;
  settings.seed = seed;
  settings.threads = 1;
  return settings;
}

struct Counts {
  int gradient = 0;
  int warned = 0;
  int refused = 0;
  int diverged = 0;
  double mean = 0;  ///< sum over runs of the mean of the first coefficient
};

void add_run(const Wrong& wrong, const Place& place, std::uint64_t seed, Counts& counts) {
  const SampleResult result = sample(Density(Regression(wrong, place)), settings_of(seed));
  const RunSummary summary = summarise_run(result);
  const Sharpening& sharpening = summary.sharpening;
  counts.gradient += sharpening.spot_check.passed ? 0 : 1;
  const bool warned = sharpening.check && !sharpening.check->passed();
  counts.warned += warned ? 1 : 0;
  counts.refused += warned && !sharpening.refused.empty() ? 1 : 0;
  counts.diverged += summary.diagnostics.divergences > 0 ? 1 : 0;
  counts.mean += summary.parameters.front().plain.mean;
}

/// Posterior mean and sd of the first coefficient of the right model.
Place right_place() {
  SampleSettings settings = settings_of(7);
  settings.draws = 20'000;
  const RunSummary summary = summarise_run(sample(Density(Regression({}, {})), settings));
  return {summary.parameters.front().recycled->mean, summary.parameters.front().recycled->sd};
}

void run(int runs, std::uint64_t seed, unsigned threads) {
  const Place place = right_place();
  std::vector<Counts> counts(faults.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t f = next++; f < faults.size(); f = next++) {
      for (int i = 0; i < runs; ++i) {
        add_run(faults[f], place, seed * 1'000'000 + f * 1'000 + static_cast<std::uint64_t>(i),
                counts[f]);
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < threads; ++t) workers.emplace_back(work);
  }
  for (std::size_t f = 0; f < faults.size(); ++f) {
    std::printf("%s %g %d %d %d %d %.3f\n", std::string(faults[f].name).c_str(), faults[f].size,
                counts[f].gradient, counts[f].warned, counts[f].refused, counts[f].diverged,
                (counts[f].mean / runs - place.mean) / place.sd);
  }
}

void describe() {
  std::printf("{\"faults\": [");
  for (const Wrong& fault : faults) {
    std::printf("%s{\"name\": \"%s\", \"size\": %g}", &fault == faults.data() ? "" : ", ",
                std::string(fault.name).c_str(), fault.size);
  }
  const Place place = right_place();
  std::printf("], \"data\": {\"place\": %.17g, \"scale\": %.17g, ", place.mean, place.sd);
  Regression({}, {}).print_data();
  std::printf("}}\n");
}

}  // namespace
}  // namespace rehmc::wrong

int main(int count, char** words) {
  if (count == 2 && std::string_view(words[1]) == "--describe") {
    rehmc::wrong::describe();
    return 0;
  }
  if (count != 4) return 64;
  rehmc::wrong::run(std::atoi(words[1]), std::strtoull(words[2], nullptr, 10),
                    static_cast<unsigned>(std::atoi(words[3])));
  return 0;
}
