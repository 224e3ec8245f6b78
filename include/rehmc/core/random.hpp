// Random streams addressed by (seed, chain, iteration, purpose), so that jumping costs nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace rehmc {

/// What a random number is for. Each purpose has its own stream, so that taking more numbers for
/// one (such as recycling) never shifts another (such as the Markov chain). The draws of every seed
/// depend on these values: never renumber them.
enum class Purpose : std::uint32_t {
  momentum = 0,
  direction = 1,
  slice = 2,
  selection = 3,
  path_length = 4,
  acceptance = 5,
  recycling = 6,
  initial_point = 7,
  estimate = 8,
  test = 9,
  step_size = 10,
  generated = 11,
  spot_check = 12,
  gradient_check = 13,
  coordinate_search = 14,
  generated_of_kept = 15,
  start = 16,
};

/// Where in the run a stream lives.
struct Address {
  std::uint64_t seed = 0;
  std::uint32_t chain = 0;
  std::uint64_t iteration = 0;
};

/// A sequence of random numbers that depends on its address and purpose alone.
///
/// Philox4x32-10 (Salmon et al. 2011, Random123): a block cipher, keyed by (seed, chain), that
/// encrypts the counter (block, purpose, iteration). Two streams of one run never share a block.
/// Creating a stream is cheap: nothing is generated until the first number is requested. A stream
/// holds 2^32 blocks of 128 bits and then repeats.
class Stream {
 public:
  Stream(const Address& address, Purpose purpose) noexcept;

  /// 64 random bits.
  std::uint64_t bits() {
    if (next_ == buffer_.size()) refill();
    return buffer_[next_++];
  }

  /// Uniform on the open interval (0, 1): the 2^52 odd multiples of 2^-53, so never 0 or 1.
  double uniform() { return static_cast<double>((bits() >> 11) | 1) * 0x1.0p-53; }

  /// True with this probability.
  bool chance(double probability) { return uniform() < probability; }

  /// Uniform on {0, ..., n - 1}, without bias; n >= 1.
  std::uint64_t below(std::uint64_t n) {
    return static_cast<std::uint64_t>((Wide{bits_for(n)} * n) >> 64);
  }

  /// Standard normal. For many numbers, fill_normal is several times faster.
  double normal();

  /// Standard exponential, always above 0; its smallest and its largest value are 2^-53 and 44.4.
  double exponential();

  /// Fills with independent standard normals: the same bits on every machine, whatever its vector
  /// width. Uses 8 new blocks for every 16 numbers or part of them, and does not touch what the
  /// scalar functions have buffered.
  void fill_normal(std::span<double> out);

  /// A uniformly random order.
  template <class T>
  void shuffle(std::span<T> items) {
    std::size_t left = items.size();
    for (; left > 16; --left) std::swap(items[left - 1], items[below(left)]);
    // The last 16 have fewer orders than a word has values: their places are the digits of one
    // number below left!, the first by left, the next by left - 1 and so on.
    std::uint64_t orders = 1;
    for (std::size_t i = 2; i <= left; ++i) orders *= i;
    std::uint64_t rest = bits_for(orders);
    for (; left > 1; --left) {
      const Wide product = Wide{rest} * left;
      std::swap(items[left - 1], items[static_cast<std::size_t>(product >> 64)]);
      rest = static_cast<std::uint64_t>(product);
    }
  }

 private:
  __extension__ using Wide = unsigned __int128;

  /// Random bits whose product with n, less its lower 64 bits, is uniform on {0, ..., n - 1}.
  std::uint64_t bits_for(std::uint64_t n);
  void refill();

  std::array<std::uint64_t, 16> buffer_;  // left unset until the first refill
  std::size_t next_ = 16;
  std::uint32_t block_ = 0;  // the first block not yet taken
  std::uint32_t purpose_;
  std::uint64_t iteration_;
  std::uint64_t key_;
};

}  // namespace rehmc
