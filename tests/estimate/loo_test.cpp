// Leave-one-out against ArviZ, and on likelihoods whose answer is known.
#include "rehmc/estimate/loo.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "rehmc/core/random.hpp"

namespace rehmc::loo_test {
namespace {

/// Log likelihoods whose importance ratios follow a Pareto law of this shape: an even sequence of
/// probabilities, which every language computes to the same bits.
std::vector<double> pareto_ratios(double shape, double shift) {
  constexpr int draws = 2000;
  std::vector<double> logs;
  for (int k = 1; k <= draws; ++k) {
    double whole = 0;
    const double u = std::modf(k * 0.6180339887498949, &whole);
    logs.push_back(shape * std::log1p(-u) - shift);
  }
  return logs;
}

struct Reference {
  double efficiency;
  std::array<double, 5> shape;
  std::array<double, 5> elpd;
};

// By psislw() of ArviZ 0.23.4 and logaddexp.reduce() of NumPy.
constexpr std::array<double, 5> shapes{0.1, 0.4, 0.65, 0.9, 1.3};
constexpr std::array<Reference, 2> references{
    {{1.0,
      {0.11928494980335355, 0.3913510705239973, 0.6175543693479058, 0.8433203430841637,
       1.2038369350630846},
      {-0.10529920175734903, -0.8063629129009752, -1.5972507559294178, -2.629200150724804,
       -4.776488945413688}},
     {0.4,
      {0.10752920279640914, 0.38941365286660595, 0.6239344195707757, 0.8582056372964807,
       1.2327405951192099},
      {-0.10529777961723996, -0.8063594397197762, -1.5978722821522497, -2.6333927166928324,
       -4.796288181635521}}}};
constexpr std::array<double, 5> lppds{-0.09528060336413713, -0.6364561612586126,
                                      -1.1007725158382922, -1.5418612453767553,
                                      -2.0329345821410723};

TEST(Loo, agrees_with_arviz) {
  for (const Reference& reference : references) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const LooPoint point =
          loo_of(pareto_ratios(shapes[i], 0.3 * static_cast<double>(i)), reference.efficiency);
      // The two sum logarithms in another order.
      EXPECT_NEAR(point.shape, reference.shape[i], 1e-9) << i;
      EXPECT_NEAR(point.elpd, reference.elpd[i], 1e-9) << i;
      EXPECT_NEAR(point.lppd, lppds[i], 1e-12) << i;
    }
  }
}

TEST(Loo, of_a_normal_mean_is_what_refitting_gives) {
  // y_i ~ N(mu, 1) with a flat prior: mu | y ~ N(mean, 1/n), and leaving y_i out moves the mean to
  // mean - (y_i - mean) / (n - 1), its variance to 1 / (n - 1).
  constexpr std::size_t n = 20;
  constexpr std::size_t draws = 4000;
  Stream stream({.seed = 5}, Purpose::test);
  std::vector<double> y(n);
  stream.fill_normal(y);
  double mean = 0;
  for (const double value : y) mean += value / n;
  const auto log_density = [](double x, double at, double variance) {
    return -0.5 * std::log(2 * M_PI * variance) - (x - at) * (x - at) / (2 * variance);
  };
  std::vector<std::vector<double>> logs(n, std::vector<double>(draws));
  for (std::size_t s = 0; s < draws; ++s) {
    const double mu = mean + stream.normal() / std::sqrt(n);
    for (std::size_t i = 0; i < n; ++i) logs[i][s] = log_density(y[i], mu, 1);
  }
  std::vector<std::vector<Series>> observations;
  double expected = 0;
  for (std::size_t i = 0; i < n; ++i) {
    observations.push_back(
        {{logs[i].data(), draws / 2, 1}, {logs[i].data() + draws / 2, draws / 2, 1}});
    expected += log_density(y[i], mean - (y[i] - mean) / (n - 1), 1 + 1.0 / (n - 1));
  }
  const Loo loo = leave_one_out(observations);
  // A z of 5 for the error of importance sampling: sqrt(n) ratios of relative sd below 0.3.
  EXPECT_NEAR(loo.elpd, expected, 5 * std::sqrt(n) * 0.3 / std::sqrt(draws));
  EXPECT_EQ(loo.unreliable(), 0U);
  EXPECT_LT(loo.worst_shape(), loo.good_shape);
  EXPECT_NEAR(loo.p_loo, 1, 0.5);
  EXPECT_NEAR(loo.relative_efficiency, 1, 0.2);
  // The negative control: without leaving anything out, the density is larger.
  double lppd = 0;
  for (const LooPoint& point : loo.points) lppd += point.lppd;
  EXPECT_GT(lppd, expected + 5 * std::sqrt(n) * 0.3 / std::sqrt(draws));
}

TEST(Loo, degenerate_likelihoods) {
  const std::vector<double> equal(1000, -2.0);
  const LooPoint same = loo_of(equal, 1);
  EXPECT_NEAR(same.elpd, -2, 1e-12);
  EXPECT_EQ(same.shape, std::numeric_limits<double>::infinity());  // as in ArviZ: nothing to fit
  std::vector<double> lost = pareto_ratios(0.3, 0);
  lost[7] = -std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(loo_of(lost, 1).elpd));
}

}  // namespace
}  // namespace rehmc::loo_test
