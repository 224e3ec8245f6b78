// Chunks of several chains put together, and the scatter of their sums.
#include "pooled_chunks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"

namespace rehmc {

namespace {

/// Sums of deviations over stretches of draws.
struct Scatter {
  void add(double deviation, double draws) {
    sum += deviation * deviation / draws;
    ++stretches;
  }
  double long_run_variance() const { return sum / (stretches - 1); }

  double sum = 0;
  double stretches = 0;
};

}  // namespace

ChunkSums::Chunk sum_of(std::span<const ChunkSums::Chunk> chunks) {
  ChunkSums::Chunk total;
  for (const ChunkSums::Chunk& chunk : chunks) {
    total.draws += chunk.draws;
    total.mass += chunk.mass;
    total.first += chunk.first;
    total.second += chunk.second;
    for (std::size_t k = 0; k < total.stein.size(); ++k) total.stein[k] += chunk.stein[k];
  }
  return total;
}

void check_alike(Summaries chains) {
  if (chains.empty()) throw DataError("running estimates: found no chains, give at least one");
  const auto words = [](const RunningSummary& chain) {
    return fmt::format("{} {} recycling, {} gradients", chain.dimension(),
                       chain.recycling() ? "with" : "without",
                       chain.gradients() ? "with" : "without");
  };
  const RunningSummary& first = *chains.front();
  for (const RunningSummary* const chain : chains) {
    if (chain->dimension() != first.dimension() || chain->recycling() != first.recycling() ||
        chain->gradients() != first.gradients()) {
      throw DataError(fmt::format(
          "running estimates: chains of dimension {} and of dimension {}: must be equal",
          words(first), words(*chain)));
    }
  }
}

PooledChunks::PooledChunks(Summaries chains, std::size_t coordinate,
                           const ChunkSums& (RunningSummary::*part)() const, double moved)
    : centre(chains.front()->centre(coordinate) + moved) {
  full.reserve(chains.size() * ChunkSums::most_chunks);
  for (const RunningSummary* const chain : chains) {
    const ChunkSums& sums = (chain->*part)();
    const double shift = chain->centre(coordinate) - centre;
    for (std::size_t b = 0; b < sums.full(); ++b) {
      full.push_back(sums.chunk(b, coordinate, shift));
    }
    ends.push_back(full.size());
    begun.push_back(sums.chunk(sums.full(), coordinate, shift));
    enough = enough && sums.full() >= fewest;
  }
  const std::array parts{sum_of(full), sum_of(begun)};
  total = sum_of(parts);
}

double PooledChunks::long_run_variance(std::span<const double> deviation,
                                       Neighbours neighbours) const {
  Scatter of_chunks;
  for (std::size_t b = 0; b < full.size(); ++b) of_chunks.add(deviation[b], full[b].draws);
  if (neighbours == Neighbours::counted) {
    double products = 0;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      for (std::size_t b = begin + 1; b < end; ++b) {
        products += deviation[b - 1] * deviation[b] / full[b].draws;
      }
      begin = end;
    }
    of_chunks.sum += std::max(0.0, 2 * products);
  }
  return of_chunks.long_run_variance();
}

double PooledChunks::squared_error(std::span<const double> deviation, bool disagree,
                                   Neighbours neighbours) const {
  if (!enough) return nan_value;
  double variance = long_run_variance(deviation, neighbours);
  if (disagree) {
    Scatter of_halves;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      // An odd chunk in the middle belongs to neither half.
      const std::size_t half = (end - begin) / 2;
      for (const std::size_t first : {begin, end - half}) {
        double sum = 0;
        for (std::size_t b = first; b < first + half; ++b) sum += deviation[b];
        of_halves.add(sum, static_cast<double>(half) * full[first].draws);
      }
      begin = end;
    }
    variance = std::max(variance, of_halves.long_run_variance());
  }
  const double mean_mass = total.mass / total.draws;
  return variance / total.draws / (mean_mass * mean_mass);
}

}  // namespace rehmc
