// How much of a run the page shows: the bounds that keep it small, and the rule that thins.
#pragma once

#include <algorithm>
#include <cstddef>

namespace rehmc::report {

// Together these keep the data below 5 MB even if every character of every name needs six bytes.
constexpr std::size_t most_rows = 5000;        // of the table
constexpr std::size_t most_name_bytes = 80;    // of a parameter's name
constexpr std::size_t most_text_bytes = 8000;  // of a command or a warning
constexpr std::size_t most_settings = 300;
constexpr std::size_t most_value_bytes = 1000;   // of a setting
constexpr std::size_t most_plotted = 40;         // parameters with plots of their own
constexpr std::size_t most_chains = 12;          // shown separately in plots
constexpr std::size_t most_points = 4000;        // draws in trace and pairs plots
constexpr std::size_t most_divergences = 500;    // shown in addition to those
constexpr std::size_t most_curve_draws = 40000;  // used for densities and ranks
constexpr std::size_t most_spark_draws = 2000;   // used for the sparkline of each parameter
constexpr std::size_t most_traced = 2000;        // states of the trajectory
constexpr std::size_t curve_points = 128;
constexpr std::size_t most_predictive = 4;       // replicated variables
constexpr std::size_t most_replicates = 40;      // of each
constexpr std::size_t most_observations = 2000;  // of leave-one-out
constexpr std::size_t spark_points = 32;
constexpr std::size_t rank_bins = 20;
constexpr int quantum = 99999;  // plotted values are integers from 0 to this

/// The smallest n such that every n-th of `count` items is at most `most` items.
constexpr std::size_t stride_for(std::size_t count, std::size_t most) {
  return std::max<std::size_t>(1, (count + most - 1) / most);
}

}  // namespace rehmc::report
