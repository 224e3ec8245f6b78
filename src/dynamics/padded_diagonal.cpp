// Copies the diagonal of a metric.
#include "padded_diagonal.hpp"

#include <algorithm>

namespace rehmc {

PaddedDiagonal::PaddedDiagonal(const Metric& metric) : vector_(vector_stride(metric.dimension())) {
  const std::vector<double> diagonal = metric.inverse_diagonal();
  double* const data = vector_.data(vector_.take());
  std::copy(diagonal.begin(), diagonal.end(), data);
  data_ = data;
}

PaddedDiagonal::~PaddedDiagonal() = default;

}  // namespace rehmc
