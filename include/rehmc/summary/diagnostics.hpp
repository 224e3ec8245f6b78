// Diagnostics of a run, and warnings in plain language with remedies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rehmc/output/sample_result.hpp"
#include "rehmc/summary/summary.hpp"

namespace rehmc {

struct Warning {
  std::string kind;  ///< a fixed word: divergences, depth_limit, ebfmi, rhat, ess, stuck, ...
  std::string text;  ///< what was found, what it means, what to do
};

struct Diagnostics {
  std::uint64_t divergences = 0;  ///< after warmup
  std::uint64_t depth_limit_hits = 0;
  std::vector<double> ebfmi;  ///< per chain
  std::uint64_t gradients_warmup = 0;
  std::uint64_t gradients_sampling = 0;
  QuantityFailures quantity_failures;
  double seconds_warmup = 0;    ///< summed over chains
  double seconds_sampling = 0;  ///< summed over chains
  std::vector<Warning> warnings;
};

Diagnostics diagnose(const SampleResult& result, const std::vector<ParameterSummary>& summary);

/// The first few names, and how many more there are.
std::string listed(const std::vector<std::string>& names);

/// The totals that the counts refer to.
struct RunSize {
  std::size_t chains = 0;
  std::uint64_t draws = 0;  ///< of all chains together
  int max_depth = 0;
  /// Every draw begins with a fresh momentum, without which E-BFMI says nothing.
  bool fresh_momenta = true;
};

/// Whether draws of this kernel begin with fresh momenta.
bool draws_fresh_momenta(const KernelSettings& kernel);

/// Adds the warnings about warmup.
void warn_of_warmup(const SampleResult& result, Diagnostics& diagnostics);
/// Adds the warnings that follow from the counts and the summary.
void add_warnings(Diagnostics& diagnostics, const RunSize& size,
                  const std::vector<ParameterSummary>& summary);

}  // namespace rehmc
