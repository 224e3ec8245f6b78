// Fused passes over padded vectors, eight numbers at a time; compiled for all instructions.
#pragma once

#include <cstddef>

#include "rehmc/dynamics/leapfrog_passes.hpp"
#include "rehmc/dynamics/pool.hpp"

namespace rehmc::REHMC_INSTRUCTIONS::lanes {

/// A register of the machine. (Vectors wider than that work as well, but g++ 12 lowers them badly:
/// with AVX2 alone, vectors of eight take four times as long as pairs of vectors of four.)
inline constexpr std::size_t register_width = REHMC_REGISTER_WIDTH;
using Register [[gnu::vector_size(register_width * sizeof(double)), gnu::may_alias]] = double;

/// Eight numbers with any registers: their number fixes the order of sums.
inline constexpr std::size_t width = 8;
static_assert(lane_count % width == 0, "padding must fill whole groups");

struct [[gnu::may_alias]] Lanes {
  static constexpr std::size_t registers = width / register_width;
  Register part[registers];

  double operator[](std::size_t i) const { return part[i / register_width][i % register_width]; }
  Lanes& operator+=(const Lanes& other) {
    for (std::size_t k = 0; k < registers; ++k) part[k] += other.part[k];
    return *this;
  }
  friend Lanes operator+(Lanes left, const Lanes& right) { return left += right; }
  friend Lanes operator*(Lanes left, const Lanes& right) {
    for (std::size_t k = 0; k < registers; ++k) left.part[k] *= right.part[k];
    return left;
  }
  friend Lanes operator*(double factor, Lanes lanes) {
    for (std::size_t k = 0; k < registers; ++k) lanes.part[k] *= factor;
    return lanes;
  }
};

inline const Lanes& at(const double* vector, std::size_t i) {
  return *reinterpret_cast<const Lanes*>(vector + i);
}
inline Lanes& at(double* vector, std::size_t i) { return *reinterpret_cast<Lanes*>(vector + i); }

inline double sum(const Lanes& x) {
  double total = 0;
  for (std::size_t i = 0; i < width / 2; ++i) total += x[i] + x[i + width / 2];
  return total;
}

// Velocities M^{-1} p by metric: of coordinates i, i + 1, ... of a momentum block, whose p is
// given.
struct UnitVelocity {
  Lanes operator()(const Lanes& p, const double*, std::size_t) const { return p; }
};
struct DiagonalVelocity {
  const double* inverse_mass;
  Lanes operator()(const Lanes& p, const double*, std::size_t i) const {
    return at(inverse_mass, i) * p;
  }
};
struct StoredVelocity {
  std::size_t stride;  ///< the velocity lies this far after the momentum
  Lanes operator()(const Lanes&, const double* momentum, std::size_t i) const {
    return at(momentum + stride, i);
  }
};

// Sum of group(i) over n padded coordinates; two sums run side by side to hide the latency of
// additions. Inlined, because else the pointers that a group holds would be loaded again and again.
template <class Group>
[[gnu::always_inline]] inline double sum_groups(std::size_t n, const Group& group) {
  Lanes even{};
  Lanes odd{};
  std::size_t i = 0;
  for (; i + 2 * width <= n; i += 2 * width) {
    even += group(i);
    odd += group(i + width);
  }
  if (i < n) even += group(i);
  return sum(even + odd);
}

template <class Velocity>
double kinetic_energy(std::size_t n, const Velocity& velocity, const double* momentum) {
  return 0.5 * sum_groups(n, [&](std::size_t i) {
           const Lanes p = at(momentum, i);
           return p * velocity(p, momentum, i);
         });
}

template <class Velocity>
double inner_product(std::size_t n, const Velocity& velocity, const double* left,
                     const double* right) {
  return sum_groups(n,
                    [&](std::size_t i) { return at(left, i) * velocity(at(right, i), right, i); });
}

// Arguments are copies: what is written could otherwise be the pointers themselves, for all the
// compiler knows, and each group of coordinates would load them again.
template <class Velocity>
JoinProducts join_pairs(std::size_t n, Velocity velocity, SegmentMomenta left, SegmentMomenta right,
                        double* whole_sum) {
  Lanes first_first{}, first_last{}, last_first{}, last_last{};
  for (std::size_t i = 0; i < n; i += width) {
    const Lanes left_first = at(left.first, i);
    const Lanes left_last = at(left.last, i);
    const Lanes right_first = at(right.first, i);
    const Lanes right_last = at(right.last, i);
    at(whole_sum, i) = (left_first + left_last) + (right_first + right_last);
    const Lanes first_velocity = velocity(right_first, right.first, i);
    const Lanes last_velocity = velocity(right_last, right.last, i);
    first_first += left_first * first_velocity;
    first_last += left_first * last_velocity;
    last_first += left_last * first_velocity;
    last_last += left_last * last_velocity;
  }
  const double ff = sum(first_first);
  const double fl = sum(first_last);
  const double lf = sum(last_first);
  const double ll = sum(last_last);
  return {ff + fl, lf + ll, ff + lf, fl + ll, ff, ll};
}

template <class Velocity>
JoinProducts join(std::size_t n, Velocity velocity, SegmentMomenta left, SegmentMomenta right,
                  double* whole_sum) {
  Lanes left_first_right_sum{}, left_last_right_sum{}, right_first_left_sum{},
      right_last_left_sum{}, firsts{}, lasts{};
  for (std::size_t i = 0; i < n; i += width) {
    const Lanes left_sum = at(left.sum, i);
    const Lanes right_sum = at(right.sum, i);
    at(whole_sum, i) = left_sum + right_sum;
    const Lanes left_first = velocity(at(left.first, i), left.first, i);
    const Lanes right_first = at(right.first, i);
    left_first_right_sum += left_first * right_sum;
    firsts += left_first * right_first;
    right_first_left_sum += velocity(right_first, right.first, i) * left_sum;
    const Lanes right_last = velocity(at(right.last, i), right.last, i);
    const Lanes left_last = at(left.last, i);
    right_last_left_sum += right_last * left_sum;
    lasts += right_last * left_last;
    left_last_right_sum += velocity(left_last, left.last, i) * right_sum;
  }
  return {sum(left_first_right_sum),
          sum(left_last_right_sum),
          sum(right_first_left_sum),
          sum(right_last_left_sum),
          sum(firsts),
          sum(lasts)};
}

}  // namespace rehmc::REHMC_INSTRUCTIONS::lanes
