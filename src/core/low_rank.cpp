// Products with a diagonal-plus-low-rank operator, and the checks of its parts.
#include "rehmc/core/low_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string_view>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/numerics.hpp"

namespace rehmc {
namespace {

constexpr double orthonormality_tolerance = 1e-8;

double dot(const double* a, const double* b, std::size_t n) {
  return lane_sum(n, [=](std::size_t i) { return a[i] * b[i]; });
}

void require_positive(std::string_view name, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > 0 && std::isfinite(values[i])) continue;
    throw ConfigError(fmt::format("low-rank operator: {}[{}] is {}, must be positive and finite",
                                  name, i, values[i]));
  }
}

}  // namespace

DiagonalPlusLowRank::DiagonalPlusLowRank(std::vector<double> scale, std::vector<double> directions,
                                         std::vector<double> stretch)
    : scale_(std::move(scale)), directions_(std::move(directions)), stretch_(std::move(stretch)) {
  const std::size_t d = dimension();
  const std::size_t r = rank();
  if (d == 0)
    throw ConfigError("low-rank operator: scale is empty, must have one entry per coordinate");
  if (r > d) {
    throw ConfigError(fmt::format(
        "low-rank operator: stretch has {} entries, must have at most one per coordinate ({})", r,
        d));
  }
  if (directions_.size() != d * r) {
    throw ConfigError(fmt::format(
        "low-rank operator: directions has {} entries, must have {} (one column of {} for "
        "each of the {} entries of stretch)",
        directions_.size(), d * r, d, r));
  }
  require_positive("scale", scale_);
  require_positive("stretch", stretch_);
  for (std::size_t j = 0; j < r; ++j) {
    for (std::size_t k = 0; k <= j; ++k) {
      const double product = dot(&directions_[j * d], &directions_[k * d], d);
      const double wanted = j == k ? 1 : 0;
      if (std::abs(product - wanted) <= orthonormality_tolerance) continue;
      throw ConfigError(fmt::format(
          "low-rank operator: columns {} and {} of directions have inner product {}, must "
          "be {}: orthonormalise them first",
          k, j, product, wanted));
    }
  }

  CompensatedSum log_determinant;
  for (const double s : scale_) log_determinant.add(2 * std::log(s));
  for (const double l : stretch_) {
    log_determinant.add(std::log(l));
    gain_.push_back(l - 1);
    inverse_gain_.push_back(1 / l - 1);
    inverse_root_gain_.push_back(1 / std::sqrt(l) - 1);
  }
  log_determinant_ = log_determinant.value();
}

// The columns are orthonormal, so I + U diag(gain) U' is the product of the same for parts of U:
// eight columns at a time need no scratch memory, and pass together over tiles of v that stay in
// the cache.
void DiagonalPlusLowRank::stretch_along_directions(std::span<double> v,
                                                   std::span<const double> gain) const {
  constexpr std::size_t tile = 1024;
  constexpr std::size_t group = 8;
  const std::size_t d = dimension();
  const std::size_t r = rank();
  const double* const directions = directions_.data();
  double* const vector = v.data();
  hot_loop([=] {
    for (std::size_t first = 0; first < r; first += group) {
      const std::size_t last = std::min(first + group, r);
      std::array<double, group> along{};
      for (std::size_t row = 0; row < d; row += tile) {
        const std::size_t rows = std::min(tile, d - row);
        for (std::size_t j = first; j < last; ++j) {
          along[j - first] += gain[j] * dot(directions + j * d + row, vector + row, rows);
        }
      }
      for (std::size_t row = 0; row < d; row += tile) {
        const std::size_t rows = std::min(tile, d - row);
        for (std::size_t j = first; j < last; ++j) {
          const double amount = along[j - first];
          const double* __restrict direction = directions + j * d + row;
          double* __restrict to = vector + row;
          for (std::size_t i = 0; i < rows; ++i) to[i] += amount * direction[i];
        }
      }
    }
  });
}

void DiagonalPlusLowRank::apply(std::span<const double> x, std::span<double> out) const {
  assert(x.size() == dimension() && out.size() == dimension());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = scale_[i] * x[i];
  stretch_along_directions(out, gain_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] *= scale_[i];
}

void DiagonalPlusLowRank::apply_inverse(std::span<const double> x, std::span<double> out) const {
  assert(x.size() == dimension() && out.size() == dimension());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[i] / scale_[i];
  stretch_along_directions(out, inverse_gain_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] /= scale_[i];
}

void DiagonalPlusLowRank::apply_inverse_root(std::span<const double> x,
                                             std::span<double> out) const {
  assert(x.size() == dimension() && out.size() == dimension());
  if (out.data() != x.data()) std::copy(x.begin(), x.end(), out.begin());
  stretch_along_directions(out, inverse_root_gain_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] /= scale_[i];
}

std::vector<double> DiagonalPlusLowRank::diagonal() const {
  std::vector<double> diagonal(dimension(), 1.0);
  for (std::size_t j = 0; j < rank(); ++j) {
    for (std::size_t i = 0; i < dimension(); ++i) {
      const double u = directions_[j * dimension() + i];
      diagonal[i] += gain_[j] * u * u;
    }
  }
  for (std::size_t i = 0; i < dimension(); ++i) diagonal[i] *= scale_[i] * scale_[i];
  return diagonal;
}

}  // namespace rehmc
