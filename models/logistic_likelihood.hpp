// The likelihood of a logistic regression on given data.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "models/aligned_vector.hpp"

namespace rehmc {

class DataReader;
struct Batch;

/// One row of predictors per observation; add a column of ones for an intercept.
struct LogisticData {
  std::size_t observations = 0;
  std::size_t predictors = 0;
  std::vector<double> x;  ///< row by row: observations * predictors numbers
  std::vector<int> y;     ///< 0 or 1
};

/// From the keys x and y, which are both required.
LogisticData read_logistic_data(DataReader& data);

/// sum_i log P(y_i), y_i ~ Bernoulli(1 / (1 + exp(-x_i' beta))), as a function of beta.
class LogisticLikelihood {
 public:
  /// DataError for inconsistent sizes, predictors that are not finite, or y other than 0 and 1.
  explicit LogisticLikelihood(const LogisticData& data);

  std::size_t predictors() const { return predictors_; }
  /// Returns the log likelihood at these coefficients and adds its derivatives to the gradient.
  double add(std::span<const double> coefficients, std::span<double> gradient);
  /// The same for many points at once: adds to their log densities and gradients.
  void add_batch(const Batch& batch);

 private:
  double add_tiles(std::span<const double> coefficients, std::span<double> gradient);

  std::size_t predictors_;
  std::size_t tiles_;
  double padding_;  ///< rows of zeros that fill the last tile
  /// x_i (2 y_i - 1), in tiles of rows, each tile column by column.
  std::shared_ptr<const AlignedVector> signed_rows_;
  AlignedVector sums_;  ///< scratch: partial sums of the gradient
  AlignedVector rows_;  ///< scratch of batches
};

}  // namespace rehmc
