// Sums of moments over the states of a trajectory.
#include "rehmc/recycle/features.hpp"

namespace rehmc {

void MomentFeatures::add(double weight, const StateView& state, std::span<double> sums) const {
  const std::size_t d = centre_.size();
  const double* x = state.position.data();
  const double* c = centre_.data();
  double* first = sums.data();
  double* second = sums.data() + d;
#pragma omp simd
  for (std::size_t i = 0; i < d; ++i) {
    const double offset = x[i] - c[i];
    const double weighted = weight * offset;
    first[i] += weighted;
    second[i] += weighted * offset;
  }
}

void MomentFeatures::add_two(const WeightedState& a, const WeightedState& b,
                             std::span<double> sums) const {
  const std::size_t d = centre_.size();
  const double* x = a.state.position.data();
  const double* y = b.state.position.data();
  const double* c = centre_.data();
  double* first = sums.data();
  double* second = sums.data() + d;
#pragma omp simd
  for (std::size_t i = 0; i < d; ++i) {
    const double x_offset = x[i] - c[i];
    const double y_offset = y[i] - c[i];
    const double x_weighted = a.weight * x_offset;
    const double y_weighted = b.weight * y_offset;
    first[i] += x_weighted + y_weighted;
    second[i] += x_weighted * x_offset + y_weighted * y_offset;
  }
}

void CovarianceFeatures::add(double weight, const StateView& state, std::span<double> sums) const {
  const std::size_t d = centre_.size();
  const double* x = state.position.data();
  const double* c = centre_.data();
  double* first = sums.data();
  double* row = sums.data() + d;
  for (std::size_t i = 0; i < d; ++i) {
    const double weighted = weight * (x[i] - c[i]);
    first[i] += weighted;
#pragma omp simd
    for (std::size_t j = 0; j <= i; ++j) row[j] += weighted * (x[j] - c[j]);
    row += i + 1;
  }
}

}  // namespace rehmc
