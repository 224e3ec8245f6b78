// Tables of draws, and the effective sample size that every error bar uses.
#include "rehmc/estimate/chain_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>

#include <unsupported/Eigen/FFT>

#include "rehmc/core/error.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/numerics.hpp"

namespace rehmc {

namespace {

/// The least of 2^i and 3 * 2^i that is not below n: fast to transform.
std::size_t good_transform_size(std::size_t n) {
  const std::size_t power = std::bit_ceil(n);
  return power >= 4 && power / 4 * 3 >= n ? power / 4 * 3 : power;
}

/// Whether some value of a chain fills that many neighbouring draws, and no other draw of any
/// chain.
bool stays(const ChainTable& table, std::size_t c, std::size_t least) {
  const std::span<const double> chain = table.chain(c);
  for (std::size_t begin = 0, end = 0; begin < chain.size(); begin = end) {
    while (end < chain.size() && chain[end] == chain[begin]) ++end;
    if (end == begin) ++end;  // a NaN
    if (end - begin < least) continue;
    const auto all = std::count(table.values.begin(), table.values.end(), chain[begin]);
    if (static_cast<std::size_t>(all) == end - begin) return true;
  }
  return false;
}

}  // namespace

ChainTable gather(Chains chains) {
  ChainTable table{chains.size(), chains.empty() ? 0 : chains.front().size, {}};
  table.values.reserve(table.chains * table.iterations);
  for (std::size_t c = 0; c < chains.size(); ++c) {
    if (chains[c].size != table.iterations) {
      throw DataError(
          fmt::format("chain {} has {} draws but chain 0 has {}: cut all chains to the same length",
                      c, chains[c].size, table.iterations));
    }
    for (std::size_t i = 0; i < table.iterations; ++i) table.values.push_back(chains[c][i]);
  }
  return table;
}

std::vector<std::size_t> stuck_chains(const ChainTable& table) {
  // A healthy chain stays on a value for a few draws; a discrete one comes back to its values.
  constexpr std::size_t least_draws = 10;
  const std::size_t least = std::max(least_draws, table.iterations / 10);
  std::vector<std::size_t> stuck;
  for (std::size_t c = 0; c < table.chains; ++c) {
    const std::span<const double> chain = table.chain(c);
    const bool never_moves =
        std::all_of(chain.begin(), chain.end(), [&](double x) { return x == chain.front(); });
    if (never_moves || stays(table, c, least)) stuck.push_back(c);
  }
  return stuck;
}

ChainTable split_chains(const ChainTable& table) {
  if (table.iterations <= 1) return table;
  const std::size_t half = table.iterations / 2;
  const std::size_t second = table.iterations - half;
  ChainTable result{2 * table.chains, half, {}};
  result.values.reserve(result.chains * half);
  for (const std::size_t begin : {std::size_t{0}, second}) {
    for (std::size_t c = 0; c < table.chains; ++c) {
      const auto part = table.chain(c).subspan(begin, half);
      result.values.insert(result.values.end(), part.begin(), part.end());
    }
  }
  if (half == 1 && table.chains > 1) {  // as posterior does, see convergence.hpp
    result.iterations = table.chains;
    result.chains = 2;
  }
  return result;
}

double mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double* const x = values.data();
  const std::size_t count = values.size();
  const double first = hot_loop([=] { return lane_sum(count, [=](auto i) { return x[i]; }); }) / n;
  if (!std::isfinite(first)) return first;
  const auto rest = hot_loop([=] { return lane_sum(count, [=](auto i) { return x[i] - first; }); });
  return first + rest / n;
}

double squares_about(std::span<const double> values, double mean) {
  const double* const x = values.data();
  return hot_loop([=, count = values.size()] {
    return lane_sum(count, [=](std::size_t i) { return (x[i] - mean) * (x[i] - mean); });
  });
}

double variance_of(std::span<const double> values) {
  return squares_about(values, mean_of(values)) / (static_cast<double>(values.size()) - 1);
}

bool undefined(std::span<const double> values) {
  constexpr double largest = std::numeric_limits<double>::max();
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  int unbounded = 0;
#pragma omp simd reduction(min : least) reduction(max : most) reduction(| : unbounded)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = values[i];
    least = x < least ? x : least;
    most = x > most ? x : most;
    unbounded |= std::abs(x) <= largest ? 0 : 1;  // NaN as well
  }
  return unbounded != 0 || !(most - least >= std::numeric_limits<double>::epsilon());
}

double quantile_of_sorted(std::span<const double> sorted, double probability) {
  if (sorted.empty()) return nan_value;
  // Hyndman and Fan (1996), definition 7; counted from 1 as R counts, so that rounding agrees.
  const double position = 1 + (static_cast<double>(sorted.size()) - 1) * probability;
  const double below = std::floor(position);
  const double low = sorted[static_cast<std::size_t>(below) - 1];
  if (position == below) return low;
  const double high = sorted[static_cast<std::size_t>(below)];
  const double share = position - below;
  return low == high ? low : (1 - share) * low + share * high;
}

struct EffectiveSize::Fourier {
  Eigen::FFT<double> transform;
  std::vector<std::complex<double>> series;
  std::vector<std::complex<double>> spectrum;
  std::vector<std::complex<double>> power;
};

EffectiveSize::EffectiveSize() = default;
EffectiveSize::~EffectiveSize() = default;

/// Averaged over the chains, divisor n at every lag. Most chains are done after a few lags, which
/// are cheaper to sum one by one; the others get all lags from a Fourier transform.
double EffectiveSize::autocovariance(std::size_t lag) {
  constexpr std::size_t single_lags = 64;
  while (lag >= autocovariance_.size()) {
    const std::size_t next = autocovariance_.size();
    if (next >= single_lags) {
      transform_all_lags();
      break;
    }
    double sum = 0;
    for (std::size_t c = 0; c < centred_.chains; ++c) {
      const double* x = centred_.chain(c).data();
      const std::size_t pairs = centred_.iterations - next;
      sum += hot_loop(
          [=] { return lane_sum(pairs, [=](std::size_t i) { return x[i] * x[i + next]; }); });
    }
    autocovariance_.push_back(sum / static_cast<double>(centred_.values.size()));
  }
  return autocovariance_[lag];
}

/// The Wiener-Khinchin theorem. The average over chains only needs the sum of their power spectra,
/// so one inverse transform serves all. Two chains share a forward transform, as the real and
/// imaginary part of one series: the real part of its autocovariance is the sum of theirs.
void EffectiveSize::transform_all_lags() {
  if (!fourier_) fourier_ = std::make_unique<Fourier>();
  auto& [transform, series, spectrum, power] = *fourier_;
  const std::size_t n = centred_.iterations;
  const std::size_t size = good_transform_size(2 * n);
  const auto points = static_cast<Eigen::Index>(size);
  spectrum.resize(size);
  power.assign(size, 0);
  for (std::size_t c = 0; c < centred_.chains; c += 2) {
    series.assign(size, 0);
    for (std::size_t i = 0; i < n; ++i) series[i].real(centred_.chain(c)[i]);
    if (c + 1 < centred_.chains) {
      for (std::size_t i = 0; i < n; ++i) series[i].imag(centred_.chain(c + 1)[i]);
    }
    transform.fwd(spectrum.data(), series.data(), points);
    for (std::size_t k = 0; k < size; ++k) power[k] += std::norm(spectrum[k]);
  }
  transform.inv(series.data(), power.data(), points);
  autocovariance_.resize(n);
  for (std::size_t t = 0; t < n; ++t) {
    autocovariance_[t] = series[t].real() / static_cast<double>(centred_.values.size());
  }
}

double EffectiveSize::operator()(const ChainTable& table) {
  const std::size_t n = table.iterations;
  autocovariance_.clear();
  if (n < 3 || undefined(table.values)) return nan_value;
  centred_ = table;
  std::vector<double> means(table.chains);
  for (std::size_t c = 0; c < table.chains; ++c) {
    means[c] = mean_of(table.chain(c));
    for (std::size_t i = 0; i < n; ++i) centred_.values[c * n + i] -= means[c];
  }
  // Vehtari et al. (2021), section 3.2: variances within and between chains make one correlation.
  const double total = autocovariance(0) + (table.chains > 1 ? variance_of(means) : 0);
  return static_cast<double>(table.values.size()) / correlation_time(total).draws;
}

double EffectiveSize::of_latest_within() {
  if (autocovariance_.empty()) return nan_value;
  const auto [time, lags] = correlation_time(autocovariance(0));
  // About a chain's own mean all autocovariances are too small by the variance of that mean, time /
  // n of the variance of a draw. To first order, with 2 k + 1 of them in the sum:
  constexpr double least_share = 0.2;
  const double lost = (2 * lags + 1 - time) / static_cast<double>(centred_.iterations);
  return static_cast<double>(centred_.values.size()) / time * std::max(1 - lost, least_share);
}

/// From correlations relative to this variance.
EffectiveSize::CorrelationTime EffectiveSize::correlation_time(double total) {
  const std::size_t n = centred_.iterations;
  const double within = autocovariance(0) * static_cast<double>(n) / (static_cast<double>(n) - 1);
  const auto correlation = [&](std::size_t lag) {
    return 1 - (within - autocovariance(lag)) / total;
  };

  // Geyer (1992): pairs of neighbouring lags are summed as long as their sum is positive, and no
  // pair may count more than the one before it. posterior never uses the last lags of a chain, and
  // counts the pair at which it stops by half of its first lag.
  double even = 1;
  double odd = correlation(1);
  double bound = even + odd;
  double sum = 0;
  std::size_t lag = 0;
  for (; lag + 5 < n && even + odd > 0; lag += 2) {
    bound = std::min(bound, even + odd);
    sum += bound;
    even = correlation(lag + 2);
    odd = correlation(lag + 3);
  }
  const double half = even + odd < 0 ? std::max(0.0, even) : even;
  // Too few lags: posterior then takes the first term in place of the empty sum.
  if (lag == 0) sum = 1;
  const auto draws = static_cast<double>(centred_.values.size());
  return {std::max(-1 + 2 * sum + half, 1 / std::log10(draws)), static_cast<double>(lag)};
}

}  // namespace rehmc
