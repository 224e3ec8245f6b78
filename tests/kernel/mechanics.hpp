// Kernels, recyclings and targets for tests of mechanics, and a textbook leapfrog to compare with.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/dynamics/metric.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "tests/dynamics/bumpy.hpp"

namespace rehmc::testing {

using Numbers = std::vector<double>;

inline Numbers copy(std::span<const double> x) { return {x.begin(), x.end()}; }

/// All kernels of the table.
inline constexpr auto every_kernel = [] {
  std::array<KernelKind, static_cast<std::size_t>(greatest(KernelKind{})) + 1> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<KernelKind>(i);
  return all;
}();

/// How many steps of one transition may diverge: one at each end that the trajectory grows beyond a
/// divergence elsewhere.
inline std::uint64_t most_divergences(KernelKind kind) {
  return kind == KernelKind::symmetric || kind == KernelKind::windows ? 2 : 1;
}

/// Every recycling that a kernel supports, with few states and with more than most trajectories
/// have.
inline std::vector<Recycling> every_recycling(KernelKind kind) {
  std::vector<Recycling> all;
  for (const char* text :
       {"none", "all", "spread:1", "spread:8", "spread:100", "simple:1", "simple:8", "simple:100",
        "recursive:1", "recursive:8", "recursive:100"}) {
    all.push_back(parse_recycling(text));
  }
  if (traits(kind).accepts_each_step) {
    for (const char* text : {"accept-each", "stride:1", "stride:3", "stride:100"}) {
      all.push_back(parse_recycling(text));
    }
  }
  return all;
}

/// Bumpy inside, and a chosen fault where the first coordinate is too large.
class Walled {
 public:
  Walled(std::size_t dimension, double wall, Fault fault)
      : inside_(dimension), wall_(wall), fault_(fault) {}
  std::size_t dimension() const { return inside_.dimension(); }

  double operator()(std::span<const double> x, std::span<double> gradient) const {
    const double value = inside_(x, gradient);
    if (x[0] <= wall_) return value;
    switch (fault_) {
      case Fault::none:
        return value - 1e6;  // a cliff: finite, but far below
      case Fault::not_a_number:
        return std::numeric_limits<double>::quiet_NaN();
      case Fault::positive_infinity:
        return infinity;
      case Fault::negative_infinity:
        return -infinity;
      case Fault::bad_gradient:
        gradient[x.size() - 1] = infinity;
        return value;
      case Fault::exception:
        throw std::domain_error("beyond the wall");
    }
    return value;
  }

 private:
  Bumpy inside_;
  double wall_;
  Fault fault_;
};

inline KernelSettings kernel_settings(KernelKind kind, const Recycling& recycling) {
  KernelSettings settings;
  settings.kind = kind;
  settings.recycling = recycling;
  settings.hmc.path_length = 1.5;
  return settings;
}

/// A kernel at a fixed point that every target here can use.
inline std::unique_ptr<Kernel> kernel_at_start(Density density, const KernelSettings& settings) {
  const std::size_t d = density.dimension();
  auto kernel = make_kernel(std::move(density), settings);
  Numbers position(d);
  for (std::size_t i = 0; i < d; ++i) position[i] = 0.4 - 0.3 * static_cast<double>(i % 3);
  kernel->set_position(position);
  return kernel;
}

/// Variances that differ by coordinate.
inline Numbers variances(std::size_t d) {
  Numbers v(d);
  for (std::size_t i = 0; i < d; ++i) v[i] = 0.5 + 0.25 * static_cast<double>(i % 5);
  return v;
}

inline Tuning diagonal_tuning(std::size_t d, double step_size) {
  return {step_size, make_diagonal_metric(variances(d))};
}

inline Tuning dense_tuning(std::size_t d, double step_size) {
  Numbers matrix(d * d, 0.1);
  for (std::size_t i = 0; i < d; ++i) matrix[i * d + i] = variances(d)[i];
  return {step_size, make_dense_metric(d, matrix)};
}

inline Address address(std::uint64_t iteration) {
  return {.seed = 11, .chain = 3, .iteration = iteration};
}

/// A point of the phase space in plain arrays, for the diagonal metric.
struct PlainPoint {
  Numbers x;
  Numbers p;
  double log_density = 0;
  Numbers gradient;

  double energy(const Numbers& inverse_mass) const {
    double kinetic = 0;
    for (std::size_t i = 0; i < p.size(); ++i) kinetic += 0.5 * p[i] * p[i] * inverse_mass[i];
    return kinetic - log_density;
  }
};

/// One leapfrog step by eq. (1.2) of Nishimura & Dunson (2020).
template <class D>
PlainPoint plain_leapfrog(const D& density, const Numbers& inverse_mass, double step,
                          const PlainPoint& from) {
  PlainPoint to = from;
  for (std::size_t i = 0; i < to.x.size(); ++i) {
    to.p[i] = from.p[i] + 0.5 * step * from.gradient[i];
    to.x[i] = from.x[i] + step * inverse_mass[i] * to.p[i];
  }
  to.log_density = density(to.x, to.gradient);
  for (std::size_t i = 0; i < to.x.size(); ++i) to.p[i] += 0.5 * step * to.gradient[i];
  return to;
}

/// The point at which a transition from `state` starts.
inline PlainPoint start_of_transition(const StateView& state, const Metric& metric,
                                      const Address& where) {
  PlainPoint point{copy(state.position), Numbers(state.position.size()), state.log_density,
                   copy(state.gradient)};
  Stream stream(where, Purpose::momentum);
  metric.draw_momentum(stream, point.p);
  return point;
}

}  // namespace rehmc::testing
