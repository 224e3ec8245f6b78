// Cox processes of many chains, one per lane; compiled for every set of instructions.
#pragma once

#include <cstddef>
#include <span>

#include "models/chain_lanes.hpp"
#include "models/cox_grid.hpp"
#include "models/fast_math.hpp"

namespace rehmc::REHMC_INSTRUCTIONS {
namespace {

constexpr std::size_t height = TriangularPanels::height;
constexpr std::size_t widest_row = chain_lanes::widest_row(height);

template <class RowType>
void write_log_densities(const RowType& values, const Batch& batch,
                         const chain_lanes::Bundle& bundle) {
  for (std::size_t c = 0; c < bundle.columns; ++c) {
    batch.log_densities[bundle.first + c] = values.data()[c];
  }
}

template <class RowType>
void evaluate_bundle(const CoxGrid& grid, const Batch& batch, const chain_lanes::Bundle& bundle,
                     AlignedVector& scratch) {
  const std::size_t cells = grid.mirror.cells();
  const double area = grid.area;
  const double mean = grid.mean;
  RowType* const x = chain_lanes::rows_in<RowType>(scratch, 3 * cells);
  RowType* const folded = x + cells;
  RowType* const pulls = folded + cells;
  chain_lanes::gather_positions(batch, bundle, cells, x);
  const RowType of_mean = chain_lanes::constant_row<RowType>(mean);
  for (std::size_t i = 0; i < cells; ++i) x[i] -= of_mean;
  grid.mirror.fold(x, folded);
  for (std::size_t i = 0; i < cells; ++i) pulls[i] = RowType{};
  RowType squares{};
  RowType likelihood{};
  for_each_panel(grid,
                 [&](const Panel<height>& panel, std::size_t begin, std::size_t, std::size_t) {
                   RowType product[height];
                   panel.multiply(folded + begin, product);
                   panel.add_transposed(product, pulls + begin);
                   for (const RowType& row : product) squares.add(row, row);
                 });
  const double* const counts = grid.counts.data();
  for (std::size_t i = 0; i < cells; ++i) {
    double* const cell = x[i].data();
    double* const sum = likelihood.data();
    const double count = counts[i];
#pragma omp simd
    for (std::size_t c = 0; c < RowType::chains; ++c) {
      const double position = cell[c] + mean;
      const double intensity = area * fast_exp(position);
      sum[c] += count * position - intensity;
      cell[c] = count - intensity;
    }
  }
  grid.mirror.add_unfolded(-1, pulls, x);
  chain_lanes::scatter_gradients(x, bundle, cells, batch);
  likelihood.add(-0.5, squares);
  write_log_densities(likelihood, batch, bundle);
}

/// x - mu, cell by cell; `folded` is scratch.
template <class RowType>
void colour(const CoxGrid& grid, const RowType* u, RowType* folded, RowType* x) {
  for_each_panel(
      grid, [&](const Panel<height>& panel, std::size_t begin, std::size_t top, std::size_t rows) {
        RowType product[height];
        panel.multiply(u + begin, product);
        for (std::size_t i = 0; i < rows; ++i) folded[top + i] = product[i];
      });
  for (std::size_t i = 0; i < grid.mirror.cells(); ++i) x[i] = RowType{};
  grid.mirror.add_unfolded(1, folded, x);
}

template <class RowType>
void evaluate_whitened_bundle(const CoxGrid& grid, const Batch& batch,
                              const chain_lanes::Bundle& bundle, AlignedVector& scratch) {
  const std::size_t cells = grid.mirror.cells();
  const double area = grid.area;
  const double mean = grid.mean;
  const double lambda = grid.lambda;
  RowType* const u = chain_lanes::rows_in<RowType>(scratch, 3 * cells);
  RowType* const folded = u + cells;
  RowType* const x = folded + cells;
  chain_lanes::gather_positions(batch, bundle, cells, u);
  colour(grid, u, folded, x);
  RowType likelihood{};
  RowType squares{};  // |u|^2 - lambda |x - mu|^2
  const double* const counts = grid.counts.data();
  for (std::size_t i = 0; i < cells; ++i) {
    double* const cell = x[i].data();
    double* const sum = likelihood.data();
    double* const square = squares.data();
    const double* const white = u[i].data();
    const double count = counts[i];
#pragma omp simd
    for (std::size_t c = 0; c < RowType::chains; ++c) {
      const double offset = cell[c];
      const double intensity = area * fast_exp(mean + offset);
      sum[c] += count * (mean + offset) - intensity;
      square[c] += white[c] * white[c] - lambda * offset * offset;
      cell[c] = count - intensity + lambda * offset;
    }
  }
  grid.mirror.fold(x, folded);
  RowType* const gradient = x;  // whose numbers are now in `folded`
  for (std::size_t i = 0; i < cells; ++i) gradient[i] = -1.0 * u[i];
  for_each_panel(
      grid, [&](const Panel<height>& panel, std::size_t begin, std::size_t top, std::size_t rows) {
        RowType factors[height] = {};
        for (std::size_t i = 0; i < rows; ++i) factors[i] = folded[top + i];
        panel.add_transposed(factors, gradient + begin);
      });
  chain_lanes::scatter_gradients(gradient, bundle, cells, batch);
  likelihood.add(-0.5, squares);
  write_log_densities(likelihood, batch, bundle);
}

}  // namespace

void evaluate_cox(const CoxGrid& grid, const Batch& batch, AlignedVector& scratch) {
  chain_lanes::for_each_bundle<widest_row>(
      batch.columns, [&]<class RowType>(std::type_identity<RowType>, const auto& bundle) {
        evaluate_bundle<RowType>(grid, batch, bundle, scratch);
      });
}

void evaluate_whitened_cox(const CoxGrid& grid, const Batch& batch, AlignedVector& scratch) {
  chain_lanes::for_each_bundle<widest_row>(
      batch.columns, [&]<class RowType>(std::type_identity<RowType>, const auto& bundle) {
        evaluate_whitened_bundle<RowType>(grid, batch, bundle, scratch);
      });
}

void colour_whitened_cox(const CoxGrid& grid, std::span<const std::span<const double>> u,
                         std::span<const std::span<double>> x, AlignedVector& scratch) {
  const std::size_t cells = grid.mirror.cells();
  chain_lanes::for_each_bundle<widest_row>(
      u.size(), [&]<class RowType>(std::type_identity<RowType>, const auto& bundle) {
        RowType* const white = chain_lanes::rows_in<RowType>(scratch, 3 * cells);
        RowType* const offsets = white + cells;
        chain_lanes::gather([&](std::size_t c) { return u[c].data(); }, bundle, cells, white);
        colour(grid, white, offsets + cells, offsets);
        const RowType of_mean = chain_lanes::constant_row<RowType>(grid.mean);
        for (std::size_t i = 0; i < cells; ++i) offsets[i] += of_mean;
        chain_lanes::scatter(offsets, bundle, cells, [&](std::size_t c) { return x[c].data(); });
      });
}

}  // namespace rehmc::REHMC_INSTRUCTIONS
