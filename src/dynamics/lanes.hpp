// Fused passes over padded vectors, eight numbers at a time; the same order of sums on every
// machine.
#pragma once

#include <cstddef>

#include "rehmc/dynamics/metric.hpp"
#include "rehmc/dynamics/pool.hpp"

namespace rehmc::lanes {

// A group of eight doubles; the compiler maps it to the registers the machine has.
using Lanes [[gnu::vector_size(64), gnu::may_alias]] = double;
static_assert(sizeof(Lanes) == lane_count * sizeof(double));

inline const Lanes& at(const double* vector, std::size_t i) {
  return *reinterpret_cast<const Lanes*>(vector + i);
}
inline Lanes& at(double* vector, std::size_t i) { return *reinterpret_cast<Lanes*>(vector + i); }

inline double sum(const Lanes& x) {
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

// Velocities M^{-1} p by metric: of coordinates i ... i + 7 of a momentum block, whose p is at
// hand.
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
  std::size_t stride;  ///< the velocity lies this far behind the momentum
  Lanes operator()(const Lanes&, const double* momentum, std::size_t i) const {
    return at(momentum + stride, i);
  }
};

// Sum of group(i) over n padded coordinates; two sums run side by side to hide the latency of
// additions.
template <class Group>
double sum_groups(std::size_t n, Group&& group) {
  Lanes even{};
  Lanes odd{};
  std::size_t i = 0;
  for (; i + 2 * lane_count <= n; i += 2 * lane_count) {
    even += group(i);
    odd += group(i + lane_count);
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
TurningProducts join(std::size_t n, const Velocity& velocity, const RunMomenta& left,
                     const RunMomenta& right, double* whole_sum) {
  Lanes first_whole{}, last_whole{}, first_left{}, joint_left{}, joint_right{}, last_right{};
  for (std::size_t i = 0; i < n; i += lane_count) {
    const Lanes left_sum = at(left.sum, i);
    const Lanes right_sum = at(right.sum, i);
    const Lanes whole = left_sum + right_sum;
    at(whole_sum, i) = whole;
    const Lanes first = velocity(at(left.first, i), left.first, i);
    const Lanes last = velocity(at(right.last, i), right.last, i);
    first_whole += first * whole;
    last_whole += last * whole;
    const Lanes next = at(right.first, i);
    const Lanes left_and_next = left_sum + next;
    first_left += first * left_and_next;
    joint_left += velocity(next, right.first, i) * left_and_next;
    const Lanes previous = at(left.last, i);
    const Lanes right_and_previous = right_sum + previous;
    joint_right += velocity(previous, left.last, i) * right_and_previous;
    last_right += last * right_and_previous;
  }
  return {sum(first_whole), sum(last_whole),  sum(first_left),
          sum(joint_left),  sum(joint_right), sum(last_right)};
}

template <class Velocity>
TurningProducts join_states(std::size_t n, const Velocity& velocity, const double* left,
                            const double* right, double* whole_sum) {
  Lanes first{}, last{};
  for (std::size_t i = 0; i < n; i += lane_count) {
    const Lanes p_left = at(left, i);
    const Lanes p_right = at(right, i);
    const Lanes whole = p_left + p_right;
    at(whole_sum, i) = whole;
    first += velocity(p_left, left, i) * whole;
    last += velocity(p_right, right, i) * whole;
  }
  const double first_whole = sum(first);
  const double last_whole = sum(last);
  return {first_whole, last_whole, first_whole, last_whole, first_whole, last_whole};
}

}  // namespace rehmc::lanes
