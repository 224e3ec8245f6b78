// The logistic likelihood of many chains, one per lane; compiled for every set of instructions.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

#include "models/chain_lanes.hpp"
#include "models/fast_math.hpp"
#include "models/logistic_tiles.hpp"
#include "models/panels.hpp"

namespace rehmc::REHMC_INSTRUCTIONS {
namespace {

/// Rows of a tile that are multiplied with many chains at once.
constexpr std::size_t height = 8;
static_assert(LogisticTiles::rows % height == 0);

// As LogisticLikelihood::add, with one chain per lane in place of one observation: the data are
// read once for all of them, so that arithmetic, not memory, limits the speed.
template <class RowType>
void add_bundle(const LogisticTiles& tiles, const Batch& batch, const chain_lanes::Bundle& bundle,
                AlignedVector& scratch) {
  const std::size_t predictors = tiles.predictors;
  RowType* const beta = chain_lanes::rows_in<RowType>(scratch, 2 * predictors);
  RowType* const slopes = beta + predictors;
  chain_lanes::gather_positions(batch, bundle, predictors, beta);
  for (std::size_t j = 0; j < predictors; ++j) slopes[j] = RowType{};
  RowType rows_of_lanes[3 + height] = {};
  double* const positive_parts = rows_of_lanes[0].data();
  double* const logs = rows_of_lanes[1].data();
  double* const product = rows_of_lanes[2].data();
  RowType* const cells = rows_of_lanes + 3;
  for (std::size_t c = 0; c < RowType::chains; ++c) product[c] = 1;
  const auto take_logs = [&] {
#pragma omp simd
    for (std::size_t c = 0; c < RowType::chains; ++c) {
      logs[c] += fast_log(product[c]);
      product[c] = 1;
    }
  };
  constexpr std::size_t rows = LogisticTiles::rows;
  for (std::size_t t = 0; t < tiles.count; ++t) {
    for (std::size_t top = 0; top < rows; top += height) {
      const Panel<height> panel{tiles.entries + t * rows * predictors + top, rows, 0, predictors};
      panel.multiply(beta, cells);
      for (std::size_t i = 0; i < height; ++i) {
        double* const cell = cells[i].data();
#pragma omp simd
        for (std::size_t c = 0; c < RowType::chains; ++c) {
          const double m = -cell[c];
          const double small = fast_exp(-std::abs(m));
          const double share = 1 / (1 + small);
          product[c] *= 1 + small;
          positive_parts[c] += m > 0 ? m : 0;
          cell[c] = m > 0 ? share : small * share;
        }
      }
      panel.add_transposed(cells, slopes);
    }
    if ((t + 1) % (LogisticTiles::most_factors / rows) == 0) take_logs();
  }
  take_logs();
  for (std::size_t c = 0; c < bundle.columns; ++c) {
    const std::size_t column = bundle.first + c;
    double* const gradient = batch.gradients + column * batch.stride;
    for (std::size_t j = 0; j < predictors; ++j) gradient[j] += slopes[j].data()[c];
    batch.log_densities[column] += tiles.padding * std::numbers::ln2 - positive_parts[c] - logs[c];
  }
}

}  // namespace

void add_logistic_batch(const LogisticTiles& tiles, const Batch& batch, AlignedVector& scratch) {
  chain_lanes::for_each_bundle<chain_lanes::widest_row(height)>(
      batch.columns, [&]<class RowType>(std::type_identity<RowType>, const auto& bundle) {
        add_bundle<RowType>(tiles, batch, bundle, scratch);
      });
}

}  // namespace rehmc::REHMC_INSTRUCTIONS
