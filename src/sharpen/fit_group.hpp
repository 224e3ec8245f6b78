// Private to sharpen/: fits several scalars together, which is faster than one by one.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <vector>

#include "own_features.hpp"
#include "scalar_fit.hpp"

namespace rehmc::stein {

/// A scalar to fit, with everything that takes.
struct FitTask {
  std::size_t scalar;
  ScalarFit fit;
  std::vector<OwnFeatures> own;  ///< by fold
  /// The own coordinate by fold, possibly of several scalars; empty for a function of many.
  std::shared_ptr<const std::vector<CoordinateStates>> states;
};

/// Gathers scalars and fits them together: removing the shared columns from many columns at once is
/// faster. Groups always have the same size and their columns the same alignment in memory, so that
/// the result for a scalar does not depend on the others, down to the last bit.
class FitGroup {
 public:
  /// Results go to `results`, one per scalar.
  FitGroup(Run& run, std::vector<SharpenedEstimate>& results);

  void add(FitTask task);
  /// Fits what is left.
  void flush();

 private:
  struct Part {
    FitTask* task;
    ColumnRange columns;
  };

  /// Number of columns at once in a fold.
  Index panel(std::size_t f) const;
  void fit_fold(std::size_t f);
  void fit_parts(std::size_t f, const std::vector<Part>& parts);

  Run& run_;
  std::vector<SharpenedEstimate>& results_;
  std::size_t most_;
  Index alignment_;  ///< of the first column of a scalar
  std::vector<FitTask> tasks_;
  Eigen::MatrixXd all_;         ///< the columns of several scalars
  Eigen::MatrixXd remainders_;  ///< what shared columns leave of them
};

}  // namespace rehmc::stein
