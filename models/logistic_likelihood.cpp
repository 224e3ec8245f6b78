// The logistic likelihood: both products with the data matrix in one pass over memory.
#include "models/logistic_likelihood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/data_reader.hpp"
#include "models/design.hpp"
#include "models/fast_math.hpp"
#include "models/logistic_tiles.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/variants.hpp"

namespace rehmc {
namespace {

constexpr std::size_t tile = LogisticTiles::rows;
/// Partial sums per entry of the gradient, side by side in one vector register.
constexpr std::size_t lanes = 8;

void check(const LogisticData& data) {
  check_design("logistic regression", data.observations, data.predictors, data.x, data.y.size());
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    if (data.y[i] == 0 || data.y[i] == 1) continue;
    throw DataError(
        fmt::format("logistic regression: y is {} in row {}, must be 0 or 1", data.y[i], i + 1));
  }
}

}  // namespace

LogisticLikelihood::LogisticLikelihood(const LogisticData& data)
    : predictors_(data.predictors),
      tiles_((data.observations + tile - 1) / tile),
      padding_(static_cast<double>(tiles_ * tile - data.observations)),
      sums_(lanes * data.predictors) {
  check(data);
  auto rows = std::make_shared<AlignedVector>(tiles_ * tile * predictors_);
  for (std::size_t i = 0; i < data.observations; ++i) {
    const double sign = 2 * data.y[i] - 1;
    for (std::size_t j = 0; j < predictors_; ++j) {
      (*rows)[(i / tile * predictors_ + j) * tile + i % tile] = sign * data.x[i * predictors_ + j];
    }
  }
  signed_rows_ = std::move(rows);
}

// With r_i = x_i (2 y_i - 1) and m_i = -r_i' beta, the log likelihood is -sum_i log(1 + exp(m_i))
// and its gradient sum_i r_i / (1 + exp(-m_i)). The logarithms of 1 + exp(-|m_i|), which lies in
// [1, 2], are taken of products of many such factors.
double LogisticLikelihood::add(std::span<const double> coefficients, std::span<double> gradient) {
  return hot_loop([=, this] { return add_tiles(coefficients, gradient); });
}

inline double LogisticLikelihood::add_tiles(std::span<const double> coefficients,
                                            std::span<double> gradient) {
  const double* const beta = coefficients.data();
  double* const sums = sums_.data();
  std::fill_n(sums, sums_.size(), 0.0);
  alignas(64) double product[tile];
  std::fill_n(product, tile, 1.0);
  double positive_parts = 0;
  double logs = 0;
  const auto take_logs = [&] {
    logs += lane_sum(tile, [&](std::size_t i) { return fast_log(product[i]); });
    std::fill_n(product, tile, 1.0);
  };
  for (std::size_t t = 0; t < tiles_; ++t) {
    const double* const rows = signed_rows_->data() + t * tile * predictors_;
    alignas(64) double cell[tile] = {};  // r_i' beta, then 1 / (1 + exp(-m_i))
    for (std::size_t j = 0; j < predictors_; ++j) {
#pragma omp simd
      for (std::size_t i = 0; i < tile; ++i) cell[i] += rows[j * tile + i] * beta[j];
    }
    positive_parts += lane_sum(tile, [&](std::size_t i) {
      const double m = -cell[i];
      const double small = fast_exp(-std::abs(m));
      const double share = 1 / (1 + small);
      product[i] *= 1 + small;
      cell[i] = m > 0 ? share : small * share;
      return m > 0 ? m : 0.0;
    });
    for (std::size_t j = 0; j < predictors_; ++j) {
#pragma omp simd
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        double sum = sums[j * lanes + lane];
        // The trip count is a compile-time constant; otherwise this loop is not vectorised.
        for (std::size_t i = 0; i < tile; i += lanes) {
          sum += rows[j * tile + i + lane] * cell[i + lane];
        }
        sums[j * lanes + lane] = sum;
      }
    }
    if ((t + 1) % LogisticTiles::most_factors == 0) take_logs();
  }
  take_logs();

  for (std::size_t j = 0; j < predictors_; ++j) {
    double sum = gradient[j];
    for (std::size_t lane = 0; lane < lanes; ++lane) sum += sums[j * lanes + lane];
    gradient[j] = sum;
  }
  // Every row of padding added log 2.
  return padding_ * std::numbers::ln2 - positive_parts - logs;
}

void LogisticLikelihood::add_batch(const Batch& batch) {
  REHMC_VARIANT_IN_USE(add_logistic_batch)
  ({signed_rows_->data(), tiles_, predictors_, padding_}, batch, rows_);
}

LogisticData read_logistic_data(DataReader& data) {
  DataMatrix x = data.matrix("x", between(-1e100, 1e100));
  std::vector<int> y = data.zeros_and_ones("y");
  data.require_length("y", y.size(), x.rows);
  return {x.rows, x.columns, std::move(x.values), std::move(y)};
}

}  // namespace rehmc
