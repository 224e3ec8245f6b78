// Sums over chunks of consecutive draws, for errors by batch means in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rehmc {

/// Means over the states of a draw, for every coordinate, with the gradient g of the log density:
/// g, (x - centre) g and (x - centre)^2 g.
struct GradientMeans {
  std::span<const double> gradient;
  std::span<const double> first;
  std::span<const double> second;
};

/// Sums of offsets and their squares for every coordinate over chunks of consecutive draws, maybe
/// with those of Stein features, whose mean is 0: with u = (x - centre) / scale and g the gradient
/// in units of 1 / scale, they are g, u g + 1 and u^2 g + 2 u. There
/// are at most 32 chunks; when all are full, neighbours merge and chunks become twice as long. So
/// 31 x 32 draws have 31 chunks of 32, ten million draws 19 of 524288.
class ChunkSums {
 public:
  static constexpr std::size_t most_chunks = 32;

  ChunkSums() = default;
  explicit ChunkSums(std::size_t dimension);
  /// With Stein features, in these units; a scale that is not positive and finite counts as 1.
  ChunkSums(std::size_t dimension, std::span<const double> scale);

  /// One draw: its offsets from a centre and their squares, or means of these over its states, and
  /// how much it counts.
  void add(std::span<const double> offset, std::span<const double> square, double mass = 1);
  /// One draw whose states are just itself.
  void add_position(std::span<const double> position, std::span<const double> centre);
  /// One draw, for sums with Stein features.
  void add(std::span<const double> offset, std::span<const double> square,
           const GradientMeans& gradients, double mass = 1);

  /// Sums over one chunk, for one coordinate.
  struct Chunk {
    double draws = 0;
    double mass = 0;
    double first = 0;   ///< sum of mass times offset
    double second = 0;  ///< sum of mass times square
    /// Sums of mass times Stein feature; zero without such.
    std::array<double, 3> stein{};
  };

  std::size_t dimension() const { return dimension_; }
  bool has_stein() const { return !scale_.empty(); }
  std::uint64_t count() const { return full_ * length_ + filled_; }
  /// The number of full chunks; one more may be partly filled.
  std::size_t full() const { return full_; }
  /// The sums of chunk 0, ..., full(), the last being the partly filled one, about a centre moved
  /// by this.
  Chunk chunk(std::size_t index, std::size_t coordinate, double shift = 0) const;
  std::size_t bytes() const;
  /// Whether all arrays have the sizes that this dimension needs, which of restored sums is not
  /// certain.
  bool is_whole(std::size_t dimension) const;

  template <class Archive>
  void archive(Archive& archive) {
    archive(dimension_, length_, full_, filled_, masses_, first_, second_, scale_, stein_);
  }

 private:
  void end_draw(double mass);

  std::size_t dimension_ = 0;
  std::uint64_t length_ = 1;  ///< draws of a full chunk
  std::size_t full_ = 0;
  std::uint64_t filled_ = 0;  ///< draws of the chunk begun
  std::vector<double> masses_;
  std::vector<double> first_;  ///< chunk by chunk, so that a draw adds one row to another
  std::vector<double> second_;
  std::vector<double> scale_;  ///< of the Stein features; empty without them
  /// Chunk by chunk the three features one after the other. Their mean is 0, so that sums stay
  /// small and what rounding adds is far below any error.
  std::vector<float> stein_;
};

}  // namespace rehmc
