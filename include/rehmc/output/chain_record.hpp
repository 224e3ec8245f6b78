// The record of one chain: everything it produces, in plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rehmc/core/archive.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/output/quantity_reader.hpp"

namespace rehmc {

/// A divergence that outlives its transition.
struct StoredDivergence {
  std::size_t draw = 0;
  std::vector<double> start;
  std::vector<double> momentum;
  std::vector<double> end;
  Fault fault = Fault::none;

  template <class Archive>
  void archive(Archive& archive) {
    archive(start, momentum, end, fault);
  }
};

/// Whether the kept states are to be sharpened: then their gradients are recorded.
enum class KeptGradients { no, yes };

/// Stores a draw so that ChainRecord::add_archived() has the same effect as ChainRecord::add() of
/// the draw. `has_kept`: this draw or one before it kept states.
void archive_draw(ArchiveWriter& archive, const ReadDraw& draw, KeptGradients gradients,
                  bool has_kept);

/// One chain's draws with their statistics and what was recycled. Matrices are stored draw by draw,
/// with one column for every quantity that is recorded.
struct ChainRecord {
  ChainRecord() = default;
  /// The columns are those of the reader. The centre is the reader's, or 0 if that has none yet.
  ChainRecord(const QuantityReader& reader, std::size_t expected_draws,
              KeptGradients gradients = KeptGradients::no);

  /// Copies a draw.
  void add(const ReadDraw& draw);
  /// Copies the next state and the statistics of its transition: all there is in warmup.
  void add_draw(const Transition& transition, std::span<const double> values);
  /// Appends a draw that archive_draw() stored; its dimension must be that of the record.
  void add_archived(ArchiveReader& archive);
  /// Removes all draws from this one on.
  void truncate(std::size_t draws_left);

  std::size_t dimension() const { return centre.size(); }
  std::size_t size() const { return log_density.size(); }
  std::span<const double> draw(std::size_t i) const {
    return std::span(draws).subspan(i * dimension(), dimension());
  }
  /// Where the kept states of draw i begin; kept_begin(size()) is where all end.
  std::size_t kept_begin(std::size_t i) const { return i == 0 ? 0 : kept_end[i - 1]; }

  std::vector<std::size_t> columns;  ///< the quantity that each column holds
  std::vector<double> centre;
  std::vector<double> draws;  ///< positions of the chain
  std::vector<double> log_density;
  std::vector<double> acceptance;
  std::vector<double> step_size;
  std::vector<double> energy;
  std::vector<double> energy_error;
  std::vector<double> path_length;
  std::vector<double> mass;
  std::vector<int> depth;
  std::vector<std::uint32_t> leapfrogs;
  std::vector<Ending> ending;

  std::vector<double> mean_offset;  ///< per draw, as in ReadDraw: mean of x - centre
  std::vector<double> mean_square;  ///< likewise: mean of (x - centre)^2

  std::vector<double> kept;         ///< quantities of the states that recycling kept
  std::vector<double> kept_weight;  ///< sums to 1 over the states of a draw
  std::vector<std::size_t> kept_end;

  /// All coordinates of the kept states and of their gradients, if those are recorded. Positions
  /// only if `kept` does not hold them already.
  KeptGradients gradients = KeptGradients::no;
  std::size_t coordinates = 0;
  std::vector<double> kept_position;
  std::vector<float> kept_gradient;
  std::span<const double> kept_positions() const {
    return kept_position.empty() ? kept : kept_position;
  }

  std::vector<StoredDivergence> divergences;

 private:
  void forget_gradients();
};

}  // namespace rehmc
