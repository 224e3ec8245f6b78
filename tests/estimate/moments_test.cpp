// Weighted moments against two-pass sums: far from zero, merged, and from shifted sums.
#include "rehmc/estimate/moments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc {
namespace {

struct Sample {
  std::size_t dimension;
  std::vector<double> weights;
  std::vector<std::vector<double>> states;

  /// The textbook way, in two passes and extended precision.
  std::vector<long double> mean() const {
    std::vector<long double> result(dimension);
    for (std::size_t i = 0; i < dimension; ++i) {
      for (std::size_t s = 0; s < states.size(); ++s) {
        result[i] += static_cast<long double>(weights[s]) * states[s][i];
      }
      result[i] /= weight();
    }
    return result;
  }
  long double weight() const {
    long double sum = 0;
    for (const double w : weights) sum += w;
    return sum;
  }
  double covariance(std::size_t i, std::size_t j) const {
    const auto centre = mean();
    long double sum = 0;
    for (std::size_t s = 0; s < states.size(); ++s) {
      sum += weights[s] * (states[s][i] - centre[i]) * (states[s][j] - centre[j]);
    }
    return static_cast<double>(sum / weight());
  }
};

/// Correlated coordinates about a location, with weights from 0 to 2.
Sample sample(std::size_t size, double location, std::uint64_t seed) {
  Stream stream({.seed = seed}, Purpose::test);
  Sample result{3, {}, {}};
  for (std::size_t s = 0; s < size; ++s) {
    const double a = stream.normal(), b = stream.normal(), c = stream.normal();
    result.weights.push_back(s % 7 == 3 ? 0.0 : 2 * stream.uniform());
    result.states.push_back({location + a, location + 0.5 * a + b, 3 * location - b + 0.1 * c});
  }
  return result;
}

template <class Moments>
Moments moments_of(const Sample& sample, std::size_t begin, std::size_t end) {
  Moments result(sample.dimension);
  for (std::size_t s = begin; s < end; ++s) result.add(sample.weights[s], sample.states[s]);
  return result;
}

/// What a trajectory delivers about a centre: sums for variances, or for the lower triangle of a
/// covariance.
struct Sums {
  double weight = 0;
  std::vector<double> centre, first, squares, products;

  Sums(const Sample& sample, std::size_t begin, std::size_t end, std::vector<double> about)
      : centre(std::move(about)), first(3), squares(3), products(6) {
    for (std::size_t s = begin; s < end; ++s) {
      const double w = sample.weights[s];
      weight += w;
      for (std::size_t i = 0, k = 0; i < 3; ++i) {
        const double offset = sample.states[s][i] - centre[i];
        first[i] += w * offset;
        squares[i] += w * offset * offset;
        for (std::size_t j = 0; j <= i; ++j)
          products[k++] += w * offset * (sample.states[s][j] - centre[j]);
      }
    }
  }
  ShiftedSums for_moments() const { return {weight, centre, first, squares}; }
  ShiftedSums for_covariance() const { return {weight, centre, first, products}; }
};

/// Relative errors of the means and of the variances; a mean of 1e8 leaves the latter 8 digits
/// fewer.
constexpr double mean_tolerance = 1e-14;
double variance_tolerance(double location) {
  return 1e-13 * std::max(1.0, std::abs(location) / 100);
}

void expect_equal(const WeightedMoments& ours, const Sample& sample, double location) {
  const auto mean = sample.mean();
  EXPECT_NEAR(ours.weight(), static_cast<double>(sample.weight()), 1e-12 * ours.weight());
  for (std::size_t i = 0; i < 3; ++i) {
    const auto expected = static_cast<double>(mean[i]);
    EXPECT_NEAR(ours.mean()[i], expected, mean_tolerance * std::max(1.0, std::abs(expected)));
    EXPECT_NEAR(ours.variance(i), sample.covariance(i, i), variance_tolerance(location))
        << location;
    EXPECT_EQ(ours.variance()[i], ours.variance(i));
  }
}

void expect_equal(const WeightedCovariance& ours, const Sample& sample, double location) {
  const auto mean = sample.mean();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto expected = static_cast<double>(mean[i]);
    EXPECT_NEAR(ours.mean()[i], expected, mean_tolerance * std::max(1.0, std::abs(expected)));
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(ours.covariance(i, j), sample.covariance(i, j), variance_tolerance(location))
          << location;
      EXPECT_EQ(ours.covariance()[3 * i + j], ours.covariance(i, j));
    }
  }
}

template <class Moments>
class MomentsTest : public testing::Test {};
using Kinds = testing::Types<WeightedMoments, WeightedCovariance>;
TYPED_TEST_SUITE(MomentsTest, Kinds);

TYPED_TEST(MomentsTest, OnePassEqualsTwoPassesAlsoFarFromZero) {
  for (const double location : {0.0, -5.0, 1e8}) {
    const auto all = sample(500, location, 1);
    expect_equal(moments_of<TypeParam>(all, 0, 500), all, location);
  }
}

TYPED_TEST(MomentsTest, MergingEqualsAddingAll) {
  for (const double location : {0.0, 1e8}) {
    const auto all = sample(500, location, 2);
    auto merged = moments_of<TypeParam>(all, 0, 0);  // nothing, then something, then nothing
    merged.merge(moments_of<TypeParam>(all, 0, 300));
    merged.merge(moments_of<TypeParam>(all, 300, 301));
    merged.merge(moments_of<TypeParam>(all, 301, 500));
    merged.merge(TypeParam(3));
    expect_equal(merged, all, location);
  }
}

TYPED_TEST(MomentsTest, ShiftedSumsOfTrajectoriesEqualAddingAll) {
  for (const double location : {0.0, 1e8}) {
    const auto all = sample(504, location, 3);
    TypeParam moments(3);
    for (std::size_t begin = 0; begin < 504; begin += 8) {
      // Every trajectory may have a centre of its own, as long as it is not far away.
      const double shift = static_cast<double>(begin % 3) - 1;
      const Sums sums(all, begin, begin + 8, {location + shift, location, 3 * location - shift});
      if constexpr (std::is_same_v<TypeParam, WeightedMoments>) {
        moments.add(sums.for_moments());
      } else {
        moments.add(sums.for_covariance());
      }
    }
    expect_equal(moments, all, location);
  }
}

TYPED_TEST(MomentsTest, EmptyAndCleared) {
  const auto all = sample(10, 0, 4);
  auto moments = moments_of<TypeParam>(all, 0, 10);
  moments.clear();
  EXPECT_EQ(moments.weight(), 0);
  EXPECT_EQ(moments.mean()[1], 0);
  for (std::size_t s = 0; s < 10; ++s) moments.add(all.weights[s], all.states[s]);
  expect_equal(moments, all, 0);
  moments.merge(moments);  // itself: twice the weight, the same moments
  EXPECT_NEAR(moments.weight(), 2 * static_cast<double>(all.weight()), 1e-12);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(moments.mean()[i], static_cast<double>(all.mean()[i]), 1e-14);
}

TYPED_TEST(MomentsTest, RefusesWrongWeightsAndLengths) {
  TypeParam moments(2);
  const std::vector<double> right{1, 2}, wrong{1, 2, 3};
  EXPECT_THROW(moments.add(-1.0, right), DataError);
  EXPECT_THROW(moments.add(std::nan(""), right), DataError);
  EXPECT_THROW(moments.add(std::numeric_limits<double>::infinity(), right), DataError);
  EXPECT_THROW(moments.add(1.0, wrong), DataError);
  EXPECT_THROW(moments.add(ShiftedSums{1.0, right, right, std::vector<double>{1}}), DataError);
  EXPECT_THROW(moments.merge(TypeParam(3)), DataError);
  EXPECT_EQ(moments.weight(), 0);
}

TEST(WeightedMoments, VarianceOfNothingIsNaNAndOfOnePointZero) {
  WeightedMoments moments(1);
  EXPECT_TRUE(std::isnan(moments.variance(0)));
  moments.add(0.3, std::vector<double>{7.7});
  EXPECT_EQ(moments.mean()[0], 7.7);
  EXPECT_EQ(moments.variance(0), 0);
  // Sums whose rounding would give a negative variance.
  const std::vector<double> centre{0}, first{0.3 * 7.7}, second{0.3 * 7.7 * 7.7 * (1 - 1e-15)};
  WeightedMoments from_sums(1);
  from_sums.add({0.3, centre, first, second});
  EXPECT_GE(from_sums.variance(0), 0);
}

TEST(WeightedMoments, NaNStaysInItsCoordinate) {
  WeightedMoments moments(2);
  moments.add(1, std::vector<double>{1, 1});
  moments.add(1, std::vector<double>{3, std::nan("")});
  EXPECT_EQ(moments.mean()[0], 2);
  EXPECT_EQ(moments.variance(0), 1);
  EXPECT_TRUE(std::isnan(moments.mean()[1]));
}

}  // namespace
}  // namespace rehmc
