// The diagonal-plus-low-rank operator against the dense matrix it stands for.
#include "rehmc/core/low_rank.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc::low_rank_test {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

std::vector<double> numbers(const Matrix& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

std::span<const double> view(const Vector& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}
std::span<double> view(Vector& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

struct Parts {
  Vector scale;
  Matrix directions;
  Vector stretch;

  DiagonalPlusLowRank build() const {
    return {numbers(scale), numbers(directions), numbers(stretch)};
  }
  Matrix dense(const Vector& along, const Vector& outside) const {
    const auto d = scale.size();
    const Matrix inner = Matrix::Identity(d, d) + directions *
                                                      (along.array() - 1).matrix().asDiagonal() *
                                                      directions.transpose();
    return outside.asDiagonal() * inner;
  }
};

Parts random_parts(Eigen::Index d, Eigen::Index r) {
  Stream stream({.seed = 11, .iteration = static_cast<std::uint64_t>(1000 * d + r)}, Purpose::test);
  Parts parts{Vector(d), Matrix(d, r), Vector(r)};
  for (double& s : parts.scale) s = std::exp(stream.normal());
  for (double& l : parts.stretch) l = std::exp(2 * stream.normal());
  Matrix raw(d, r);
  for (double& x : raw.reshaped()) x = stream.normal();
  parts.directions = Eigen::HouseholderQR<Matrix>(raw).householderQ() * Matrix::Identity(d, r);
  return parts;
}

Vector random_vector(Eigen::Index d) {
  Vector x(d);
  Stream({.seed = 12}, Purpose::test).fill_normal(view(x));
  return x;
}

// Ranks on both sides of the groups of 8 columns, dimensions on both sides of the tiles of 1024
// rows.
class LowRank : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  const Parts parts = random_parts(std::get<0>(GetParam()), std::get<1>(GetParam()));
  const DiagonalPlusLowRank low_rank = parts.build();
  const Vector x = random_vector(parts.scale.size());
};

TEST_P(LowRank, apply_is_the_dense_product) {
  const Matrix a = parts.dense(parts.stretch, parts.scale) * parts.scale.asDiagonal();
  Vector out(x.size());
  low_rank.apply(view(x), view(out));
  EXPECT_LE((out - a * x).norm(), 1e-13 * a.norm() * x.norm());

  Vector in_place = x;
  low_rank.apply(view(in_place), view(in_place));
  EXPECT_EQ(in_place, out);

  const std::vector<double> diagonal = low_rank.diagonal();
  EXPECT_LE((Eigen::Map<const Vector>(diagonal.data(), x.size()) - a.diagonal()).norm(),
            1e-13 * a.norm());
}

TEST_P(LowRank, inverse_root_is_the_dense_one_and_gives_the_variance_of_a_momentum) {
  const Vector inverse_root = parts.stretch.array().rsqrt();
  const Matrix root = parts.dense(inverse_root, parts.scale.cwiseInverse());
  Vector out(x.size());
  low_rank.apply_inverse_root(view(x), view(out));
  EXPECT_LE((out - root * x).norm(), 1e-13 * root.norm() * x.norm());

  Vector in_place = x;
  low_rank.apply_inverse_root(view(in_place), view(in_place));
  EXPECT_EQ(in_place, out);

  // p = root z has variance root root' = A^-1, hence p' A p = z' z.
  Vector velocity(x.size());
  low_rank.apply(view(out), view(velocity));
  EXPECT_NEAR(out.dot(velocity), x.squaredNorm(), 1e-11 * x.squaredNorm());
}

TEST_P(LowRank, log_determinant_is_the_dense_one) {
  const Matrix a = parts.dense(parts.stretch, parts.scale) * parts.scale.asDiagonal();
  const Matrix factor = Eigen::LLT<Matrix>(a).matrixL();
  EXPECT_NEAR(low_rank.log_determinant(), 2 * factor.diagonal().array().log().sum(),
              1e-9 * static_cast<double>(x.size()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, LowRank,
                         ::testing::Values(std::tuple{1, 0}, std::tuple{1, 1}, std::tuple{5, 2},
                                           std::tuple{20, 20}, std::tuple{100, 9},
                                           std::tuple{1300, 17}));

struct Refusal {
  std::vector<double> scale;
  std::vector<double> directions;
  std::vector<double> stretch;
  std::string says;
};

TEST(LowRankRefusals, name_the_part_the_value_and_the_remedy) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Refusal refusals[] = {
      {{}, {}, {}, "scale is empty"},
      {{1, 2}, {1, 0, 0}, {3}, "directions has 3 entries, must have 2"},
      {{1}, {1, 1}, {3, 4}, "stretch has 2 entries, must have at most one per coordinate (1)"},
      {{1, -2}, {1, 0}, {3}, "scale[1] is -2, must be positive and finite"},
      {{1, infinity}, {1, 0}, {3}, "scale[1] is inf, must be positive and finite"},
      {{nan, 1}, {1, 0}, {3}, "scale[0] is nan, must be positive and finite"},
      {{1, 2}, {1, 0}, {0}, "stretch[0] is 0, must be positive and finite"},
      {{1, 2},
       {1, 1e-3},
       {3},
       "columns 0 and 0 of directions have inner product 1.000001, must be 1"},
      {{1, 2},
       {1, 0, 1, 0},
       {3, 4},
       "columns 0 and 1 of directions have inner product 1, must be 0"},
      {{1, 2}, {nan, 0}, {3}, "columns 0 and 0 of directions have inner product nan, must be 1"},
  };
  for (const Refusal& refusal : refusals) {
    try {
      DiagonalPlusLowRank(refusal.scale, refusal.directions, refusal.stretch);
      FAIL() << "accepted, wanted: " << refusal.says;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(refusal.says), std::string::npos) << error.what();
    }
  }
}

TEST(LowRankRefusals, rounding_in_the_directions_is_accepted) {
  EXPECT_NO_THROW(DiagonalPlusLowRank({1, 2}, {1, 5e-5}, {3}));
}

TEST(LowRank, AppliesItsInverse) {
  const double h = std::sqrt(0.5);
  const DiagonalPlusLowRank a({2, 3, 0.5}, {h, h, 0, 0, 0, 1}, {10, 0.01});
  const std::vector<double> x{1, -2, 3};
  std::vector<double> there(3);
  std::vector<double> back(3);
  a.apply(x, there);
  a.apply_inverse(there, back);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(back[i], x[i], 1e-13);
}

}  // namespace
}  // namespace rehmc::low_rank_test
