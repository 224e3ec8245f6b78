// Private to dynamics/: the memory of passes for diagonal metrics.
#pragma once

#include "rehmc/dynamics/metric.hpp"
#include "rehmc/dynamics/pool.hpp"

namespace rehmc {

/// The diagonal of M^{-1}, padded and aligned. A base, so that it is there before the passes.
class PaddedDiagonal {
 protected:
  explicit PaddedDiagonal(const Metric& metric);
  PaddedDiagonal(const PaddedDiagonal&) = delete;
  PaddedDiagonal& operator=(const PaddedDiagonal&) = delete;
  ~PaddedDiagonal();
  const double* data() const { return data_; }

 private:
  BlockPool vector_;
  const double* data_;
};

}  // namespace rehmc
