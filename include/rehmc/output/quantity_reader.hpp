// Reads the recorded quantities off the states of a transition.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/running/chunk_sums.hpp"

namespace rehmc {

/// How often a model failed to compute its quantities or generated quantities; missing ones are
/// NaN.
struct QuantityFailures {
  std::uint64_t draws = 0;  ///< for the next state of the chain
  std::uint64_t kept = 0;   ///< for kept states

  QuantityFailures& operator+=(const QuantityFailures& more) {
    draws += more.draws;
    kept += more.kept;
    return *this;
  }
  template <class Archive>
  void archive(Archive& archive) {
    archive(draws, kept);
  }
};

/// The recorded quantities where a diverging trajectory began and where it ended.
struct ReadDivergence {
  std::span<const double> start;
  std::span<const double> end;
};

class QuantityReader;

/// A transition as users read it. Views are valid until the reader's next draw.
struct ReadDraw {
  const Transition* transition = nullptr;
  bool of_warmup = false;             ///< then there are only values: no means, no kept states
  bool positions_are_values = false;  ///< the recorded quantities are the positions as they are
  bool computed = false;              ///< the model computes the quantities of a state
  std::span<const double> values;     ///< recorded quantities of the next state
  /// Means of x - centre and (x - centre)^2 for every recorded quantity x: over all states of the
  /// trajectory for coordinates, over the kept ones for what the model computes of them. None if
  /// kept states are read later.
  std::span<const double> first;
  std::span<const double> second;
  /// Their positions hold the recorded quantities; those of the states if they are read later.
  std::span<const WeightedState> kept;
  GradientMeans gradients;  ///< likewise, of coordinates if the transition summed them; else empty
  QuantityFailures failures;
  QuantityReader* reader = nullptr;

  /// Of a transition that diverged. Read on first use.
  ReadDivergence divergence() const;
};

/// Whether kept states get generated quantities as well, each with its own random numbers;
/// otherwise they are NaN.
enum class GeneratedOfKept { no, yes };

/// Whether the quantities that a model computes are read off kept states at once, or later and
/// together: see read_kept().
enum class KeptQuantities { now, later };

/// The random numbers of the kept states of one draw: a stream for every state, so that the numbers
/// that one state uses do not affect the others.
class KeptStreams {
 public:
  explicit KeptStreams(const Address& draw)
      : draw_(draw), seeds_(draw, Purpose::generated_of_kept) {}
  Stream next() {
    return {{seeds_.bits(), draw_.chain, draw_.iteration}, Purpose::generated_of_kept};
  }

 private:
  Address draw_;
  Stream seeds_;
};

/// What the quantities of a density are, and which are recorded.
class QuantityReader {
 public:
  /// `columns`: the quantities to record, in rising order; none for all.
  QuantityReader(const Density& density, std::vector<std::size_t> columns,
                 GeneratedOfKept generated_of_kept = GeneratedOfKept::no,
                 KeptQuantities kept = KeptQuantities::now);

  const std::vector<std::size_t>& columns() const { return columns_; }
  /// Whether the recorded quantities are the positions themselves.
  bool reads_positions() const { return !model_ && columns_.size() == dimension_; }
  /// Whether the model computes them.
  bool computes() const { return model_.has_value(); }
  std::size_t dimension() const { return dimension_; }

  /// Moments are taken about the quantities of this position from now on.
  void set_centre(std::span<const double> position);
  std::span<const double> centre() const { return centre_; }

  /// A transition whose features were MomentFeatures or GradientMomentFeatures about the position
  /// of the centre.
  const ReadDraw& read(const Transition& transition, const Address& address);
  /// A transition of warmup: its next state alone.
  const ReadDraw& read_warmup(const Transition& transition, const Address& address);
  /// A single state; generated quantities are NaN without a stream.
  std::span<const double> read(std::span<const double> position, Stream* stream);

  /// Of the transition that was read last, which diverged.
  ReadDivergence divergence();

 private:
  void start_draw(const Transition& transition, bool of_warmup);
  void copy_recorded(std::span<const double> all, std::vector<double>& to) const;
  /// Whether the model computed them all.
  bool read_into(std::span<const double> position, Stream* stream, std::vector<double>& to);
  void read_all(const Transition& transition, const Address& address);
  bool evaluate_together();
  void read_gradients(const Transition& transition);
  void average_kept();

  std::optional<Density> model_;  ///< if it computes quantities; else they are coordinates
  std::size_t dimension_;         ///< of positions
  std::size_t quantities_;
  bool generates_;  ///< some quantities are drawn at random
  std::vector<std::size_t> columns_;
  GeneratedOfKept generated_of_kept_;
  KeptQuantities kept_quantities_;
  std::vector<double> centre_;

  std::vector<double> all_;
  std::vector<double> values_;
  // Of the states of one draw: where they are, and what the model computes of them.
  std::vector<std::span<const double>> positions_;
  std::vector<double> together_;
  std::vector<std::span<double>> together_views_;
  std::vector<double> first_;
  std::vector<double> second_;
  std::array<std::vector<double>, 3> gradients_;
  std::vector<std::vector<double>> kept_;
  std::vector<WeightedState> kept_view_;
  std::vector<double> divergence_start_;
  std::vector<double> divergence_end_;
  bool divergence_read_ = false;
  ReadDraw draw_;
};

inline ReadDivergence ReadDraw::divergence() const { return reader->divergence(); }

}  // namespace rehmc
