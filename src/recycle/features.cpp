// Sums of moments over the states of a trajectory.
#include "rehmc/recycle/features.hpp"

#include <array>
#include <cstddef>

#include "rehmc/core/instructions.hpp"

namespace rehmc {

void MomentFeatures::add(double weight, const StateView& state, std::span<double> sums) const {
  const std::size_t d = centre_.size();
  const double* x = state.position.data();
  const double* c = centre_.data();
  double* first = sums.data();
  double* second = sums.data() + d;
  hot_loop([=] {
#pragma omp simd
    for (std::size_t i = 0; i < d; ++i) {
      const double offset = x[i] - c[i];
      const double weighted = weight * offset;
      first[i] += weighted;
      second[i] += weighted * offset;
    }
  });
}

void MomentFeatures::add_all(std::span<const WeightedState> states, std::span<double> sums) const {
  if (states.size() != states_at_once) return Features::add_all(states, sums);
  const std::size_t d = centre_.size();
  const double* c = centre_.data();
  double* first = sums.data();
  double* second = sums.data() + d;
  std::array<const double*, states_at_once> x{};
  std::array<double, states_at_once> w{};
  for (std::size_t k = 0; k < states_at_once; ++k) {
    x[k] = states[k].state.position.data();
    w[k] = states[k].weight;
  }
  hot_loop([=] {
#pragma omp simd
    for (std::size_t i = 0; i < d; ++i) {
      const double a = x[0][i] - c[i];
      const double b = x[1][i] - c[i];
      const double e = x[2][i] - c[i];
      const double f = x[3][i] - c[i];
      first[i] += (w[0] * a + w[1] * b) + (w[2] * e + w[3] * f);
      second[i] += (w[0] * a * a + w[1] * b * b) + (w[2] * e * e + w[3] * f * f);
    }
  });
}

FeatureMeans MomentFeatures::by_name(std::span<const double> means) const {
  const std::size_t d = centre_.size();
  return {.first = means.first(d), .second = means.subspan(d, d), .all = means};
}

const double* GradientMomentFeatures::mapped(const StateView& state, std::size_t place) const {
  if (!map_) return state.gradient.data();
  mapped_[place].resize(centre_.size());
  map_(state.gradient, mapped_[place]);
  return mapped_[place].data();
}

void GradientMomentFeatures::add(double weight, const StateView& state,
                                 std::span<double> sums) const {
  const std::size_t d = centre_.size();
  const double* x = state.position.data();
  const double* g = mapped(state, 0);
  const double* c = centre_.data();
  double* first = sums.data();
  double* second = first + d;
  double* gradient = second + d;
  double* first_gradient = gradient + d;
  double* second_gradient = first_gradient + d;
  hot_loop([=] {
#pragma omp simd
    for (std::size_t i = 0; i < d; ++i) {
      const double offset = x[i] - c[i];
      const double weighted = weight * offset;
      const double weighted_gradient = weight * g[i];
      first[i] += weighted;
      second[i] += weighted * offset;
      gradient[i] += weighted_gradient;
      first_gradient[i] += weighted_gradient * offset;
      second_gradient[i] += weighted_gradient * offset * offset;
    }
  });
}

void GradientMomentFeatures::add_all(std::span<const WeightedState> states,
                                     std::span<double> sums) const {
  if (states.size() != states_at_once) return Features::add_all(states, sums);
  const std::size_t d = centre_.size();
  const double* c = centre_.data();
  double* first = sums.data();
  double* second = first + d;
  double* gradient = second + d;
  double* first_gradient = gradient + d;
  double* second_gradient = first_gradient + d;
  std::array<const double*, states_at_once> x{};
  std::array<const double*, states_at_once> g{};
  std::array<double, states_at_once> w{};
  for (std::size_t k = 0; k < states_at_once; ++k) {
    x[k] = states[k].state.position.data();
    g[k] = mapped(states[k].state, k);
    w[k] = states[k].weight;
  }
  hot_loop([=] {
#pragma omp simd
    for (std::size_t i = 0; i < d; ++i) {
      const double a = x[0][i] - c[i];
      const double b = x[1][i] - c[i];
      const double e = x[2][i] - c[i];
      const double f = x[3][i] - c[i];
      first[i] += (w[0] * a + w[1] * b) + (w[2] * e + w[3] * f);
      second[i] += (w[0] * a * a + w[1] * b * b) + (w[2] * e * e + w[3] * f * f);
      const double ga = w[0] * g[0][i];
      const double gb = w[1] * g[1][i];
      const double ge = w[2] * g[2][i];
      const double gf = w[3] * g[3][i];
      gradient[i] += (ga + gb) + (ge + gf);
      first_gradient[i] += (ga * a + gb * b) + (ge * e + gf * f);
      second_gradient[i] += (ga * a * a + gb * b * b) + (ge * e * e + gf * f * f);
    }
  });
}

FeatureMeans GradientMomentFeatures::by_name(std::span<const double> means) const {
  const std::size_t d = centre_.size();
  return {.first = means.first(d),
          .second = means.subspan(d, d),
          .gradient = means.subspan(2 * d, d),
          .first_gradient = means.subspan(3 * d, d),
          .second_gradient = means.subspan(4 * d, d),
          .all = means};
}

FeatureMeans CovarianceFeatures::by_name(std::span<const double> means) const {
  const std::size_t d = centre_.size();
  return {.first = means.first(d), .covariance = means.subspan(d), .all = means};
}

void CovarianceFeatures::add(double weight, const StateView& state, std::span<double> sums) const {
  const std::size_t d = centre_.size();
  const double* x = state.position.data();
  const double* c = centre_.data();
  double* first = sums.data();
  hot_loop([=] {
    double* row = first + d;
    for (std::size_t i = 0; i < d; ++i) {
      const double weighted = weight * (x[i] - c[i]);
      first[i] += weighted;
#pragma omp simd
      for (std::size_t j = 0; j <= i; ++j) row[j] += weighted * (x[j] - c[j]);
      row += i + 1;
    }
  });
}

}  // namespace rehmc
