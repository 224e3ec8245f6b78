// Which generated quantities are log likelihoods, and which are predictions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rehmc/core/quantity.hpp"
#include "rehmc/job/run_settings.hpp"

namespace rehmc {

/// Columns among the recorded quantities.
struct PredictiveColumns {
  std::vector<std::size_t> log_likelihood;
  std::vector<std::size_t> predictive;
};

/// Those whose variables match the patterns of the settings; without patterns, generated quantities
/// that bear the usual names: log_lik; y_rep, *_rep and y_pred. ConfigError for a pattern that
/// matches nothing.
PredictiveColumns predictive_columns(const RunSettings& settings,
                                     const std::vector<Quantity>& recorded);

/// The name of what a variable predicts, by convention: y for y_rep and y_pred; else its own.
std::string predicted_name(const std::string& variable);

}  // namespace rehmc
