// The numbers that the plots show: values, ranks, densities and energies.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "density_curve.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/report/report.hpp"
#include "shown_draws.hpp"

namespace rehmc::report {

/// Values as integers from 0 (the least) to `quantum` (the most); none where not finite.
struct QuantisedValues {
  double least = 0;
  double most = 0;
  std::vector<std::optional<int>> parts;
};
QuantisedValues quantised(const std::vector<double>& values);

/// For each shown chain, how many of its draws have their rank among the draws of all chains in
/// each bin. Equal draws share the mean of their ranks.
std::vector<std::vector<int>> rank_histograms(const SampleResult& result, std::size_t parameter,
                                              std::size_t stride);

/// Two densities on one grid with one bandwidth, so that only the data make them differ.
struct DensityPair {
  DensityGrid grid;
  std::vector<double> first;
  std::vector<double> second;  ///< may be empty
};
/// Of a parameter: from draws, and from recycled states if wanted. None if the draws do not vary.
std::optional<DensityPair> parameter_densities(const SampleResult& result, std::size_t parameter,
                                               bool recycled, std::size_t stride);
/// Of observed data, and of those that some draws replicate.
struct ReplicateDensities {
  DensityGrid grid;
  std::vector<double> observed;
  std::vector<std::vector<double>> replicates;
};
std::optional<ReplicateDensities> replicate_densities(const SampleResult& result,
                                                      const PredictiveCheck& check);
/// Of energies about their chain's mean, and of their changes from draw to draw.
std::optional<DensityPair> energy_densities(const SampleResult& result, std::size_t stride);

/// A density as a string of base-36 digits, the heights; empty if the draws do not vary.
std::string sparkline(const SampleResult& result, std::size_t parameter, std::size_t stride);

}  // namespace rehmc::report
