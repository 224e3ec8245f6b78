// What one run estimates of every parameter: plain, recycled and sharpened, with their errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rehmc/run/sample.hpp"
#include "rehmc/summary/sharpening.hpp"
#include "rehmc/summary/summary.hpp"

namespace rehmc::bench {

/// Mean, sd and the standard quantiles.
inline constexpr std::size_t summaries = 2 + standard_probabilities.size();

std::string summary_name(std::size_t summary);

/// A value and its own error bar.
struct Value {
  double value = 0;
  double mcse = 0;
  /// How well the error is known: of Student's t that error / MCSE has.
  double degrees = std::numeric_limits<double>::infinity();
};

/// One parameter of one run.
struct Outcome {
  std::array<Value, summaries> plain;
  std::array<Value, summaries> recycled;  ///< the plain ones where nothing was recycled
  /// What the summary shows: the recycled estimate if sharpening is refused.
  std::array<Value, summaries> sharpened;
  bool sharp = false;
  bool mean_tail_seen = true;
  bool sd_tail_seen = true;
  std::array<FeatureSet, summaries> sets{};
};

struct RunOutcome {
  std::vector<Outcome> parameters;
  std::size_t draws = 0;  ///< per chain
  bool passed = true;     ///< the Stein check
};

/// Who took the draws.
enum class Sampler {
  rehmc,  ///< with its defaults
  other   ///< one state for each draw, after Stan's warmup; gradients came later
};

/// Four chains in one thread.
SampleResult sample_once(const Density& density, std::uint64_t seed, int draws,
                         Sampler sampler = Sampler::rehmc);

/// The first draws of every chain, which are the draws of a shorter run of the same seed.
SampleResult first_draws(const SampleResult& result, std::size_t draws);

/// The rows of the summary, sharpened where that is possible.
RunOutcome outcome_of(const SampleResult& result);
RunOutcome outcome_of(const SampleResult& result, const std::vector<ParameterSummary>& rows,
                      const Sharpening& sharpening);

}  // namespace rehmc::bench
