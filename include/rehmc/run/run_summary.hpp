// All that is said about a run: its parameters, what went wrong, how its gradients fared.
#pragma once

#include <cstddef>
#include <vector>

#include "rehmc/run/diagnostics.hpp"
#include "rehmc/run/sharpening.hpp"
#include "rehmc/run/summary.hpp"

namespace rehmc {

struct RunSummary {
  std::vector<ParameterSummary> parameters{};
  Diagnostics diagnostics{};
  Sharpening sharpening{};
  std::size_t draws = 0;  ///< per chain, of the shortest
  /// Whether errors are by batch means and quantiles from bins, since no draws were stored. Then
  /// R-hat is the classical one, and the ESS of the mean stands for the bulk.
  bool from_batches = false;
};

}  // namespace rehmc
