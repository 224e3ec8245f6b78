// Draws in one block of memory, and what all error estimates share.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "rehmc/estimate/series.hpp"

namespace rehmc {

/// Chains of equal length, one after the other.
struct ChainTable {
  std::size_t chains = 0;
  std::size_t iterations = 0;
  std::vector<double> values;

  std::span<const double> chain(std::size_t c) const {
    return std::span(values).subspan(c * iterations, iterations);
  }
};

/// Throws DataError if the chains differ in length.
ChainTable gather(Chains chains);

/// The chains that never move, or that stay for at least ten draws and a tenth of their length on
/// a value that occurs nowhere else. (Values that occur elsewhere may be those of a discrete
/// scalar.)
std::vector<std::size_t> stuck_chains(const ChainTable& table);

/// Halves every chain; see convergence.hpp for very short ones.
ChainTable split_chains(const ChainTable& table);

/// The same chains with every draw replaced by function(draw).
template <class Function>
ChainTable transformed(const ChainTable& table, Function function) {
  ChainTable result{table.chains, table.iterations, {}};
  result.values.reserve(table.values.size());
  for (const double x : table.values) result.values.push_back(function(x));
  return result;
}

/// Mean, exact for numbers that are all the same.
double mean_of(std::span<const double> values);
/// Sum of squares about the given mean.
double squares_about(std::span<const double> values, double mean);
/// Sample variance, divisor n - 1; NaN for one number.
double variance_of(std::span<const double> values);

/// Whether no diagnostic is defined: NaN, infinite or constant draws.
bool undefined(std::span<const double> values);

/// R's quantile of type 7, from numbers in rising order.
double quantile_of_sorted(std::span<const double> sorted, double probability);

/// Effective sample size of tables that are equally long; keeps its buffers between calls.
class EffectiveSize {
 public:
  EffectiveSize();
  ~EffectiveSize();

  /// Of the chains as they are.
  double operator()(const ChainTable& table);
  /// Of the chains split in halves: the ESS of the mean.
  double of_split(const ChainTable& table) { return (*this)(split_chains(table)); }
  /// Of the latest table, from its correlations within chains alone: what its ESS would be if the
  /// chains agreed as well as their correlations let them.
  double of_latest_within();

 private:
  double autocovariance(std::size_t lag);
  struct CorrelationTime {
    double draws;  ///< that count as one
    double lags;   ///< whose correlations were summed
  };
  CorrelationTime correlation_time(double total);
  void transform_all_lags();

  /// Every chain about its own mean.
  ChainTable centred_;
  /// Averaged over the chains, for the requested number of lags.
  std::vector<double> autocovariance_;
  struct Fourier;
  std::unique_ptr<Fourier> fourier_;  ///< made when first needed
};

/// The definitions of the R package posterior, on draws that are already in a table.
double ess_sd_of(const ChainTable& table, EffectiveSize& effective_size);
double mcse_sd_of(const ChainTable& table, EffectiveSize& effective_size);
double ess_quantile_of(const ChainTable& table, std::span<const double> sorted, double probability,
                       EffectiveSize& effective_size);
double mcse_quantile_of(std::span<const double> sorted, double probability, double ess);

}  // namespace rehmc
