// Philox, and distributions from its bits, written so that every loop vectorises.
//
// Compiled with -ffp-contract=off: each floating-point operation below is then rounded by itself,
// so that the numbers are the same bits with any vector width, with or without fused multiply-add.
#include "rehmc/core/random.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "rehmc/core/instructions.hpp"

namespace rehmc {
namespace {

constexpr std::size_t lanes = 8;  // blocks generated at a time

/// The output function of SplitMix64 (Steele, Lea & Flood 2014): a bijection that makes keys of
/// neighbouring seeds unrelated.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr std::uint64_t low_half = 0xffffffff;

/// The 128 bits of one block.
struct Block {
  std::uint64_t first;
  std::uint64_t second;
};

/// Philox4x32-10 with all but the first counter word fixed. Equal to Random123's own function bit
/// for bit (tested), but with each 32-bit word in a 64-bit lane: compilers then multiply eight at a
/// time, where the original form costs nearly twice as much.
struct Philox {
  std::uint64_t purpose;
  std::uint64_t iteration;
  std::uint64_t key;

  Block operator()(std::uint64_t block) const {
    std::uint64_t word0 = block & low_half;
    std::uint64_t word1 = purpose;
    std::uint64_t word2 = iteration & low_half;
    std::uint64_t word3 = iteration >> 32;
    std::uint32_t key0 = static_cast<std::uint32_t>(key);
    std::uint32_t key1 = static_cast<std::uint32_t>(key >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < philox4x32_rounds; ++round) {
      // Upper halves of words 1 and 3 may hold leftovers, which are masked before they matter.
      const std::uint64_t product0 = (word0 & low_half) * PHILOX_M4x32_0;
      const std::uint64_t product1 = (word2 & low_half) * PHILOX_M4x32_1;
      word0 = (product1 >> 32) ^ word1 ^ key0;
      word1 = product1;
      word2 = (product0 >> 32) ^ word3 ^ key1;
      word3 = product0;
      key0 += PHILOX_W32_0;
      key1 += PHILOX_W32_1;
    }
    return {(word0 & low_half) | (word1 << 32), (word2 & low_half) | (word3 << 32)};
  }
};

/// -log(u) for u uniform on (0, 1) from 64 random bits, with relative error below 1e-15.
///
/// u keeps 53 significant bits however small it is, down to 2^-64, so the tail has no coarse grid.
/// log u = k log 2 + log m with m in [sqrt(1/2), sqrt(2)), and log m = 2 atanh(s), s = (m - 1)/(m +
/// 1), the last a polynomial in s^2 (Chebyshev fit, relative error 3e-18).
inline double minus_log_uniform(std::uint64_t bits) {
  // Integer to double by pasting the halves into mantissas: exact up to the one rounding of the
  // sum, and unlike the conversion instruction it vectorises everywhere. The lowest bit keeps u
  // above 0.
  const std::uint64_t odd = bits | 1;
  const double upper = std::bit_cast<double>((odd >> 32) | 0x4530000000000000) - (0x1p84 + 0x1p52);
  const double lower = std::bit_cast<double>((odd & low_half) | 0x4330000000000000);
  const double u = std::min((upper + lower) * 0x1p-64, 1 - 0x1p-53);

  constexpr std::uint64_t one = 1023ull << 52;  // the exponent of 1.0
  constexpr std::uint64_t root_of_half = 0x3fe6a09e667f3bcd;
  const std::uint64_t pattern = std::bit_cast<std::uint64_t>(u);
  const std::uint64_t exponent = (pattern - root_of_half + one) >> 52;  // k + 1023
  const double k = std::bit_cast<double>(exponent | 0x4330000000000000) - (0x1p52 + 1023);
  const double m = std::bit_cast<double>(pattern - (exponent << 52) + one);

  const double s = (m - 1) / (m + 1);
  const double x = s * s;
  const double x2 = x * x;
  const double series =
      ((2.0 + x * 0.6666666666666765) + x2 * (0.3999999999930191 + x * 0.2857142876073828)) +
      (x2 * x2) * ((0.22222197046404274 + x * 0.18183632241617026) +
                   x2 * (0.153125131147383 + x * 0.14809867572313062));
  return -(k * 0.6931471805599453 + s * series);
}

struct NormalPair {
  double first;
  double second;
};

/// Two independent standard normals from one block (Box & Muller 1958): the radius from the first
/// half, the direction from the second. Error below 1e-15 times the radius.
///
/// Of the direction, 52 bits give an angle inside (0, pi/4); three more choose the octant: the
/// signs of both coordinates, and which is which.
inline NormalPair normal_pair(const Block& block) {
  constexpr std::uint64_t sign = 1ull << 63;
  const double radius = std::sqrt(2 * minus_log_uniform(block.first));
  // (k + 1/2) / 2^52, exactly; the angle is pi/4 times this.
  const double t =
      std::bit_cast<double>((block.second & 0xfffffffffffff) | 0x3ff0000000000000) - (1 - 0x1p-53);
  const double x = t * t;
  const double x2 = x * x;
  const double x4 = x2 * x2;
  // Chebyshev fits of sin(pi t/4)/t and cos(pi t/4) in t^2, relative error 4e-17.
  const double sine =
      t *
      (((0.7853981633974483 - x * 0.08074551218828054) +
        x2 * (0.002490394570188844 - x * 3.657620415891387e-05)) +
       x4 * ((3.133616225433416e-07 - x * 1.7571500746983935e-09) + x2 * 6.877360573166326e-12));
  const double cosine =
      ((1.0 - x * 0.30842513753404244) + x2 * (0.01585434424381542 - x * 0.00032599188692673765)) +
      x4 * ((3.590860446027952e-06 - x * 2.4611364033652597e-08) +
            x2 * (1.1500512028217341e-10 - x * 3.8581890073416675e-13));
  const std::uint64_t along = std::bit_cast<std::uint64_t>(radius * cosine) ^ (block.second & sign);
  const std::uint64_t across =
      std::bit_cast<std::uint64_t>(radius * sine) ^ ((block.second << 1) & sign);
  const std::uint64_t swap = (along ^ across) & (0 - ((block.second >> 61) & 1));
  return {std::bit_cast<double>(along ^ swap), std::bit_cast<double>(across ^ swap)};
}

/// `groups` times 16 normals: in each group the first normals of 8 pairs, then the second ones. Two
/// groups at a time are a fifth faster than one, since their long chains of operations overlap.
template <std::size_t groups>
inline void normal_groups(const Philox& philox, std::uint64_t block, double* __restrict out) {
  std::array<std::uint64_t, groups * lanes> first;
  std::array<std::uint64_t, groups * lanes> second;
  for (std::size_t lane = 0; lane < groups * lanes; ++lane) {
    const Block made = philox(block + lane);
    first[lane] = made.first;
    second[lane] = made.second;
  }
  for (std::size_t group = 0; group < groups; ++group, out += 2 * lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const NormalPair pair =
          normal_pair({first[group * lanes + lane], second[group * lanes + lane]});
      out[lane] = pair.first;
      out[lanes + lane] = pair.second;
    }
  }
}

/// Writes normals from this block on; returns the first block that was not used.
inline std::uint64_t fill_groups(const Philox& philox, std::uint64_t block, std::span<double> out) {
  constexpr std::size_t group = 2 * lanes;
  double* to = out.data();
  std::size_t left = out.size();
  for (; left >= 2 * group; left -= 2 * group, to += 2 * group, block += 2 * lanes) {
    normal_groups<2>(philox, block, to);
  }
  if (left >= group) {
    normal_groups<1>(philox, block, to);
    left -= group, to += group, block += lanes;
  }
  if (left > 0) {
    std::array<double, group> last;
    normal_groups<1>(philox, block, last.data());
    std::copy_n(last.begin(), left, to);
    block += lanes;
  }
  return block;
}

}  // namespace

Stream::Stream(const Address& address, Purpose purpose) noexcept
    : purpose_(static_cast<std::uint32_t>(purpose)),
      iteration_(address.iteration),
      // An odd factor is a bijection, so the chains of one seed have different keys. It is none of
      // Philox's own key increments, which would make one chain's rounds resemble another's.
      key_(mix(address.seed) + address.chain * 0xd1342543de82ef95) {}

void Stream::refill() {
  const Philox philox{purpose_, iteration_, key_};
  const std::uint64_t block = block_;
  std::uint64_t* __restrict out = buffer_.data();
  hot_loop([=] {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const Block made = philox(block + lane);
      out[lane] = made.first;
      out[lanes + lane] = made.second;
    }
  });
  block_ += lanes;
  next_ = 0;
}

std::uint64_t Stream::bits_for(std::uint64_t n) {
  // Lemire 2019, algorithm 5: the upper half of a 128-bit product, rejecting the few lower halves
  // that would make some results likelier. The division is needed only when rejection is possible.
  assert(n >= 1);
  std::uint64_t random = bits();
  if (random * n < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (random * n < threshold) random = bits();
  }
  return random;
}

double Stream::normal() {
  const std::uint64_t radius = bits();
  const std::uint64_t direction = bits();
  return normal_pair({radius, direction}).first;
}

double Stream::exponential() { return minus_log_uniform(bits()); }

void Stream::fill_normal(std::span<double> out) {
  const Philox philox{purpose_, iteration_, key_};
  block_ = static_cast<std::uint32_t>(
      hot_loop([=, block = block_] { return fill_groups(philox, block, out); }));
}

}  // namespace rehmc
