// A test case of three independent normal coordinates, on which every study is fast.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "experiments/test_case.hpp"
#include "experiments/workshop.hpp"
#include "models/diagonal_normal.hpp"
#include "tests/output/folder.hpp"

namespace rehmc::experiments::testing {

inline TestCase small_case() {
  const std::vector<double> sds{0.5, 1, 2};
  Variances variances;
  for (const double sd : sds) variances.push_back(sd * sd);
  return {CaseName::gaussian,
          "Three coordinates",
          DiagonalNormal(sds),
          PathRule::leading_quarter,
          4,
          2,
          4,
          std::move(variances),
          ""};
}

/// Keeps its pieces in the folder.
inline Workshop small_workshop(const rehmc::testing::Folder& folder, std::size_t threads) {
  Workshop workshop;
  workshop.scale = Scale::smoke;
  workshop.seed = 7;
  workshop.threads = threads;
  workshop.pieces = folder.path();
  return workshop;
}

}  // namespace rehmc::experiments::testing
