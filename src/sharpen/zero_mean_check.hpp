// Private to sharpen/: tests averages of features, whose means are known to be 0.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "own_features.hpp"
#include "rehmc/sharpen/sharpened.hpp"
#include "stein_run.hpp"

namespace rehmc::stein {

/// Collects averages and finds the worst of them.
class ZeroMeanCheck {
 public:
  explicit ZeroMeanCheck(Run& run) : run_(run) {}

  /// The features of one coordinate, by fold: of the fields 1 and z, and of two thresholds. z^2 and
  /// z^3 have tails that are too heavy for a test.
  void add_coordinate(Index i, const std::vector<CoordinateStates>& states,
                      const std::vector<OwnFeatures>& powers);
  /// The scales of all blocks.
  void add_blocks();
  SteinCheck result() const;

 private:
  void add(const Eigen::Ref<const Eigen::VectorXd>& series, Index coordinate);
  void add_thresholds(Index i, const std::vector<CoordinateStates>& states);

  Run& run_;
  SteinCheck result_;
};

}  // namespace rehmc::stein
