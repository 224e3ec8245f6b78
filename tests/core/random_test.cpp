// Random streams, exactly: equality with Random123, addresses, extreme bits, same bits anywhere.
#include "rehmc/core/random.hpp"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace rehmc::random_test {
namespace {

constexpr std::size_t lanes = 8;

// The documented key of a seed, written a second time: changing it changes every run.
std::uint64_t key_of(const Address& address) {
  std::uint64_t x = address.seed + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return (x ^ (x >> 31)) + address.chain * 0xd1342543de82ef95;
}

// The two halves of a block, by Random123 itself.
std::pair<std::uint64_t, std::uint64_t> reference_block(const Address& address, Purpose purpose,
                                                        std::uint32_t block) {
  const std::uint64_t key = key_of(address);
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const philox4x32_ctr_t counter{{block, static_cast<std::uint32_t>(purpose),
                                  low(address.iteration), low(address.iteration >> 32)}};
  const philox4x32_ctr_t made = philox4x32(counter, (philox4x32_key_t{{low(key), low(key >> 32)}}));
  const auto join = [&](int i) { return made.v[i] | std::uint64_t{made.v[i + 1]} << 32; };
  return {join(0), join(2)};
}

const std::vector<std::pair<Address, Purpose>>& places() {
  static const std::vector<std::pair<Address, Purpose>> all{
      {{}, Purpose::momentum},
      {{.seed = 1}, Purpose::direction},
      {{.seed = 1, .chain = 1}, Purpose::direction},
      {{.seed = ~0ull, .chain = ~0u, .iteration = ~0ull}, Purpose::test},
      {{.seed = 20240229, .chain = 3, .iteration = 1'000'000'000'000}, Purpose::recycling}};
  return all;
}

TEST(Random123, gives_its_published_known_answers) {
  const auto answer =
      philox4x32((philox4x32_ctr_t{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}),
                 (philox4x32_key_t{{0xa4093822, 0x299f31d0}}));
  EXPECT_EQ(answer.v[0], 0xd16cfe09);
  EXPECT_EQ(answer.v[1], 0x94fdcceb);
  EXPECT_EQ(answer.v[2], 0x5001e420);
  EXPECT_EQ(answer.v[3], 0x24126ea1);
}

TEST(Stream, gives_the_published_known_answer_of_the_zero_key_and_counter) {
  // The seed whose key is 0; purpose momentum and iteration 0 make the counter 0.
  Stream stream({.seed = 0 - 0x9e3779b97f4a7c15}, Purpose::momentum);
  EXPECT_EQ(stream.bits(), 0xe169c58d6627e8d5);
  for (std::size_t i = 1; i < lanes; ++i) stream.bits();
  EXPECT_EQ(stream.bits(), 0x9b00dbd8bc57ac4c);
}

TEST(Stream, bits_are_those_of_Random123_at_any_address) {
  for (const auto& [address, purpose] : places()) {
    Stream stream(address, purpose);
    for (std::uint32_t first = 0; first < 5 * lanes; first += lanes) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        ASSERT_EQ(stream.bits(), reference_block(address, purpose, first + lane).first);
      }
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        ASSERT_EQ(stream.bits(), reference_block(address, purpose, first + lane).second);
      }
    }
  }
}

TEST(Stream, depends_on_its_address_alone) {
  const Address address{.seed = 5, .chain = 7, .iteration = 1'000'000'000'000};
  Stream one(address, Purpose::slice);
  for (int i = 0; i < 5; ++i) one.bits();
  Stream copy = one;
  Stream again(address, Purpose::slice);
  for (int i = 0; i < 5; ++i) again.bits();
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t bits = one.bits();
    ASSERT_EQ(again.bits(), bits);
    ASSERT_EQ(copy.bits(), bits);
  }
}

TEST(Stream, no_two_streams_share_a_number) {
  std::vector<std::uint64_t> seen;
  for (const std::uint64_t seed : {0, 1}) {
    for (std::uint32_t chain = 0; chain < 8; ++chain) {
      for (const std::uint64_t iteration : {0ull, 1ull, 2ull, 1ull << 32, (1ull << 32) + 1}) {
        for (std::uint32_t purpose = 0; purpose < 10; ++purpose) {
          Stream stream({seed, chain, iteration}, static_cast<Purpose>(purpose));
          for (int i = 0; i < 64; ++i) seen.push_back(stream.bits());
        }
      }
    }
  }
  // 51200 numbers of 64 bits: chance gives an equal pair with probability 7e-11.
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

// Philox is a bijection, so it can be run backwards to an address whose first number is a given
// one.
const Address all_zeros{.seed = 1, .iteration = 0x9b8293a991598d06};
constexpr auto all_zeros_purpose = static_cast<Purpose>(0x5cd54d73);
const Address all_ones{.seed = 1, .iteration = 0x20b6bb6eebd186d7};
constexpr auto all_ones_purpose = static_cast<Purpose>(0x4b2adcc9);

TEST(Stream, extreme_bits_stay_inside_the_open_interval) {
  ASSERT_EQ(Stream(all_zeros, all_zeros_purpose).bits(), 0);
  ASSERT_EQ(Stream(all_ones, all_ones_purpose).bits(), ~0ull);
  EXPECT_EQ(Stream(all_zeros, all_zeros_purpose).uniform(), 0x1p-53);
  EXPECT_EQ(Stream(all_ones, all_ones_purpose).uniform(), 1 - 0x1p-53);
}

TEST(Stream, extreme_bits_give_the_extreme_exponentials_and_finite_normals) {
  EXPECT_DOUBLE_EQ(Stream(all_zeros, all_zeros_purpose).exponential(), 64 * std::numbers::ln2);
  EXPECT_DOUBLE_EQ(Stream(all_ones, all_ones_purpose).exponential(), 0x1p-53);

  const auto radius_of_first_pair = [](const Address& address, Purpose purpose) {
    std::array<double, 2 * lanes> normals;
    Stream(address, purpose).fill_normal(normals);
    return std::hypot(normals[0], normals[lanes]);
  };
  EXPECT_DOUBLE_EQ(radius_of_first_pair(all_zeros, all_zeros_purpose),
                   std::sqrt(128 * std::numbers::ln2));
  EXPECT_DOUBLE_EQ(radius_of_first_pair(all_ones, all_ones_purpose), std::sqrt(0x1p-52));
}

// -log(u) in extended precision, for the u that 64 bits stand for: odd, 53 significant bits,
// below 1.
long double reference_minus_log(std::uint64_t bits) {
  return -std::log(static_cast<long double>(
      std::min(std::ldexp(static_cast<double>(bits | 1), -64), 1 - 0x1p-53)));
}

// Box-Muller in extended precision from the two halves of a block, first the radius.
std::pair<long double, long double> reference_pair(std::uint64_t radius_bits,
                                                   std::uint64_t direction) {
  const long double radius = std::sqrt(2 * reference_minus_log(radius_bits));
  const long double angle = (static_cast<long double>(direction & 0xfffffffffffff) + 0.5L) *
                            std::numbers::pi_v<long double> / 0x1p54L;
  long double first = radius * std::cos(angle) * (direction >> 63 & 1 ? -1 : 1);
  long double second = radius * std::sin(angle) * (direction >> 62 & 1 ? -1 : 1);
  if (direction >> 61 & 1) std::swap(first, second);
  return {first, second};
}

TEST(Stream, normals_are_box_muller_to_the_last_digits) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  for (const auto& [address, purpose] : places()) {
    std::vector<double> normals(2 * lanes * 1001);
    Stream(address, purpose).fill_normal(normals);
    for (std::size_t i = 0; i < normals.size(); i += 2 * lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto block =
            reference_block(address, purpose, static_cast<std::uint32_t>(i / 2 + lane));
        const auto [first, second] = reference_pair(block.first, block.second);
        const double tolerance = 1e-15 * static_cast<double>(std::hypot(first, second));
        ASSERT_LE(std::abs(normals[i + lane] - first), tolerance);
        ASSERT_LE(std::abs(normals[i + lanes + lane] - second), tolerance);
      }
    }
  }
}

TEST(Stream, scalar_normal_and_exponential_are_those_of_their_bits) {
  for (const auto& [address, purpose] : places()) {
    Stream raw(address, purpose);
    Stream law(address, purpose);
    for (int i = 0; i < 10'000; ++i) {
      const std::uint64_t radius = raw.bits();
      const auto [first, second] = reference_pair(radius, raw.bits());
      ASSERT_LE(std::abs(law.normal() - first), 1e-15L * std::hypot(first, second));
      const long double minus_log = reference_minus_log(raw.bits());
      ASSERT_LE(std::abs(law.exponential() - minus_log), 1e-15L * minus_log);
    }
  }
}

TEST(Stream, a_longer_fill_begins_like_a_shorter_one) {
  std::vector<double> longest(200);
  Stream({.seed = 3}, Purpose::momentum).fill_normal(longest);
  for (std::size_t n = 0; n < longest.size(); ++n) {
    // One past the end must stay untouched.
    std::vector<double> shorter(n + 1, -99.0);
    Stream({.seed = 3}, Purpose::momentum).fill_normal(std::span(shorter).first(n));
    ASSERT_TRUE(std::equal(shorter.begin(), shorter.end() - 1, longest.begin()));
    ASSERT_EQ(shorter[n], -99.0);
  }
}

TEST(Stream, fills_take_fresh_blocks_and_leave_the_buffered_numbers) {
  const Address address{.seed = 4};
  Stream stream(address, Purpose::test);
  EXPECT_EQ(stream.bits(), reference_block(address, Purpose::test, 0).first);
  std::vector<double> normals(17);
  stream.fill_normal(normals);  // blocks 8 to 23

  std::vector<double> both(32);
  Stream other(address, Purpose::test);
  for (std::size_t i = 0; i < 2 * lanes; ++i) other.bits();
  other.fill_normal(both);
  EXPECT_TRUE(std::equal(normals.begin(), normals.end(), both.begin()));

  for (std::uint32_t lane = 1; lane < lanes; ++lane) {
    EXPECT_EQ(stream.bits(), reference_block(address, Purpose::test, lane).first);
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(stream.bits(), reference_block(address, Purpose::test, lane).second);
  }
  EXPECT_EQ(stream.bits(), reference_block(address, Purpose::test, 24).first);
}

TEST(Stream, gives_the_same_bits_on_every_machine) {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t x) { hash = (std::rotl(hash, 5) ^ x) * 0x9e3779b97f4a7c15; };
  Stream stream({.seed = 1, .chain = 2, .iteration = 3}, Purpose::test);
  std::vector<double> normals(100'003);
  stream.fill_normal(normals);
  for (const double x : normals) add(std::bit_cast<std::uint64_t>(x));
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    add(std::bit_cast<std::uint64_t>(stream.normal()));
    add(std::bit_cast<std::uint64_t>(stream.exponential()));
    add(std::bit_cast<std::uint64_t>(stream.uniform()));
    add(stream.below(1000 + i));
  }
  // The same with gcc 12 and clang 14, -O0 to -O3, plain x86-64 to AVX-512. With fused
  // multiply-add (no -ffp-contract=off) the number differs.
  EXPECT_EQ(hash, 14376053391822887474u);
}

}  // namespace
}  // namespace rehmc::random_test
