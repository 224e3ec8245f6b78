// The ground truth of a test case: exact, or from a long recycled run, with its own error.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "experiments/chain_errors.hpp"
#include "experiments/leading_component.hpp"
#include "experiments/traced_chain.hpp"

namespace rehmc::experiments {

/// By statistic, then by parameter.
using ByStatistic = std::array<std::vector<double>, statistics>;

struct Truth {
  ByStatistic value;
  ByStatistic error;  ///< standard errors; zero if exact
  /// Variance of the estimate per independent draw: N draws have this over N.
  ByStatistic unit_variance;
  std::vector<double> centre;  ///< of moments
  std::vector<double> sd;
  LeadingPlane leading;
  Bins bins;
  std::vector<std::vector<double>> starts;  ///< states from stationarity; none if exact
  double iterations = 0;
};

Truth find_truth(const Workshop& workshop, const TestCase& test_case,
                 const Preparation& preparation);

/// A starting position for a chain of a study, from stationarity after the burn-in.
std::vector<double> starting_position(const TestCase& test_case, const Truth& truth,
                                      const Address& address);

}  // namespace rehmc::experiments
