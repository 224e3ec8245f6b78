// Metrics of every kind with their matrices.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/dynamics/metric.hpp"

namespace rehmc::testing {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

inline std::vector<double> numbers(const Matrix& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

inline Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

inline Vector normal_vector(Stream& stream, std::size_t d) {
  Vector x(index(d));
  stream.fill_normal({x.data(), d});
  return x;
}

/// A metric and its matrix.
struct MetricCase {
  std::string name;
  std::shared_ptr<const Metric> metric;
  Matrix inverse_mass;
  /// A product with M^{-1} errs by at most a few units in the last place of this matrix times |x|.
  Matrix magnitude;
};

/// One metric of every kind, with scales that differ. Compiled once, since it takes g++ seconds.
std::vector<MetricCase> every_metric(std::size_t d);

}  // namespace rehmc::testing
