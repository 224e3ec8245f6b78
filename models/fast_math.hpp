// Exponentials and logarithms as straight-line code, which the compiler vectorises inside a loop.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rehmc {

namespace fast_math {

// ln 2 in two parts; the first has 20 trailing zero bits, so that its product with an exponent is
// exact without a fused multiply-add.
inline constexpr double ln2_high = 0x1.62e42fee00000p-1;
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;

/// c[0] + x (c[1] + x (c[2] + ...)).
template <class... Coefficients>
constexpr double horner([[maybe_unused]] double x, double first, Coefficients... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return first;
  } else {
    return first + x * horner(x, rest...);
  }
}

}  // namespace fast_math

/// exp(x) to 2 units in the last place. Results below 1e-307 become 0; NaN stays NaN.
inline double fast_exp(double x) {
  constexpr double least = -707;
  constexpr double most = 709.782712893384;
  constexpr double log2_e = 1.4426950408889634;
  // Adding this drops the fraction: the low bits of the sum are the nearest integer.
  constexpr double shifter = 0x1.8p52;
  double clamped = x < least ? least : x;
  clamped = clamped > most ? most : clamped;
  // x = n ln 2 + r with |r| <= ln(2)/2, where the Taylor series needs 13 terms for 2e-16.
  const double shifted = clamped * log2_e + shifter;
  const double n = shifted - shifter;
  const double r = (clamped - n * fast_math::ln2_high) - n * fast_math::ln2_low;
  const double series =
      fast_math::horner(r, 1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                        1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600);
  // 2^(n - 1), whose exponent field fits for every n in range; the missing factor of 2 comes last.
  const double scale = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1022) << 52);
  double result = 2 * series * scale;
  result = x < least ? 0 : result;
  return x > most ? std::numeric_limits<double>::infinity() : result;
}

/// log(x) for x >= 2.3e-308, to 2 units in the last place (absolute 1e-16 around x = 1); NaN and
/// infinity stay. Not for zero, negative or subnormal x.
inline double fast_log(double x) {
  // x = 2^k m with m in [sqrt(1/2), sqrt(2)).
  constexpr std::uint64_t bits_of_one = 0x3ff0'0000'0000'0000;
  constexpr std::uint64_t bits_of_sqrt_half = 0x3fe6'a09e'667f'3bcd;
  constexpr double integer_offset = 0x1.0p52;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t biased = (bits - bits_of_sqrt_half + bits_of_one) >> 52;
  const double m = std::bit_cast<double>(bits - (biased << 52) + bits_of_one);
  const double k = std::bit_cast<double>(biased | std::bit_cast<std::uint64_t>(integer_offset)) -
                   (integer_offset + 1023);
  // log m = 2 artanh(s) with s = (m - 1)/(m + 1), |s| < 0.172: ten terms leave 2e-17.
  const double s = (m - 1) / (m + 1);
  const double q = s * s;
  const double tail = q * fast_math::horner(q, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11,
                                            2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19);
  const double result = k * fast_math::ln2_high + (2 * s + (s * tail + k * fast_math::ln2_low));
  return x < std::numeric_limits<double>::infinity() ? result : x;
}

/// log(1 + x) for x >= 0, also where 1 + x rounds x away; NaN and infinity stay.
inline double fast_log1p(double x) {
  const double sum = 1 + x;
  const double lost = x - (sum - 1);
  const double result = fast_log(sum) + lost / sum;
  return x < std::numeric_limits<double>::infinity() ? result : x;
}

}  // namespace rehmc
