// The record of one chain: everything it produces, in plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
/// the draw. What can be read off the positions of kept states is not stored besides them.
void archive_draw(ArchiveWriter& archive, const ReadDraw& draw, KeptGradients gradients);

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
  /// DataError unless all arrays have the sizes that belong together, which of stored ones is not
  /// certain: whoever reads a record relies on them.
  void require_whole() const;
  /// After the first draw: makes room for the kept states of so many draws. A run that keeps them
  /// all would otherwise copy them again and again as its arrays grow.
  void reserve_kept(std::size_t expected_draws);
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

  // Of the columns that are known of kept states:
  /// All columns if none are listed here. What a model computes is known after read_kept().
  std::optional<std::vector<std::size_t>> kept_columns{};
  std::size_t kept_dimension() const { return kept_columns ? kept_columns->size() : dimension(); }
  /// Where a column is among those; none if it is not.
  std::optional<std::size_t> kept_place(std::size_t column) const;
  std::vector<double> mean_offset;  ///< per draw, as in ReadDraw: mean of x - centre
  std::vector<double> mean_square;  ///< likewise: mean of (x - centre)^2
  std::vector<double> kept;         ///< quantities of the states that recycling kept

  std::vector<double> kept_weight;  ///< sums to 1 over the states of a draw
  std::vector<std::size_t> kept_end;

  /// All coordinates of the kept states and of their gradients, if those are recorded. Positions
  /// only if `kept` does not hold them already; always if the model computes the quantities.
  KeptGradients gradients = KeptGradients::no;
  std::size_t coordinates = 0;
  std::vector<double> kept_position;
  std::vector<float> kept_gradient;
  std::span<const double> kept_positions() const {
    return kept_position.empty() ? kept : kept_position;
  }
  bool computed = false;  ///< the model computes the quantities

  std::uint64_t kept_failures = 0;  ///< of the model, for kept states that were read later

  std::vector<StoredDivergence> divergences;

 private:
  void mark_as_computed();
  void forget_gradients();
  void add_archived_kept(ArchiveReader& archive, std::size_t count, bool positions);
};

}  // namespace rehmc
