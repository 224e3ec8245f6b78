// The Cox process against its definition with the whole covariance matrix; metric; simulation.
#include "models/cox_process.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/random.hpp"
#include "tests/model/messages.hpp"

namespace rehmc::testing::cox_process_test {
namespace {

Eigen::MatrixXd whole_covariance(const CoxSettings& settings) {
  const auto size = static_cast<Eigen::Index>(settings.size);
  Eigen::MatrixXd covariance(size * size, size * size);
  for (Eigen::Index a = 0; a < size * size; ++a) {
    for (Eigen::Index b = 0; b < size * size; ++b) {
      const double distance = std::hypot(static_cast<double>(a / size - b / size),
                                         static_cast<double>(a % size - b % size)) /
                              static_cast<double>(size);
      covariance(a, b) = settings.variance * std::exp(-distance / settings.length_scale);
    }
  }
  return covariance;
}

// Sides even and odd: the middle of an odd one is its own mirror image.
TEST(CoxProcess, IsItsDefinition) {
  for (const std::size_t size : {2UL, 3UL, 4UL, 5UL, 8UL}) {
    SCOPED_TRACE(size);
    const CoxSettings settings{
        .size = size, .length_scale = 0.4, .variance = 1.3, .expected_points = 40};
    const double mean = std::log(40) - 0.65;
    const std::vector<std::uint64_t> counts = simulate_cox_counts(settings, 3);
    CoxProcess process(settings, counts);
    const Eigen::LLT<Eigen::MatrixXd> cholesky(whole_covariance(settings));
    const auto cells = static_cast<Eigen::Index>(size * size);
    Eigen::VectorXd x(cells);
    Eigen::VectorXd gradient(cells);
    double constant = 0;
    for (std::uint64_t k = 0; k < 5; ++k) {
      Stream({.seed = 4, .iteration = k}, Purpose::test).fill_normal({x.data(), size * size});
      const Eigen::VectorXd centred = (x.array() - mean).matrix();
      const Eigen::VectorXd pull = cholesky.solve(centred);
      double expected = -0.5 * centred.dot(pull);
      const double value = process({x.data(), size * size}, {gradient.data(), size * size});
      for (Eigen::Index i = 0; i < cells; ++i) {
        const double intensity = std::exp(x[i]) / static_cast<double>(cells);
        const auto count = static_cast<double>(counts[static_cast<std::size_t>(i)]);
        expected += count * std::log(intensity) - intensity;
        EXPECT_NEAR(gradient[i], count - intensity - pull[i], 1e-11);
      }
      if (k == 0) constant = value - expected;
      EXPECT_NEAR(value - expected, constant, 1e-10);
    }
  }
}

TEST(CoxProcess, MetricIsThatOfGirolamiAndCalderhead) {
  for (const std::size_t size : {4UL, 5UL}) {
    SCOPED_TRACE(size);
    const CoxSettings settings{.size = size};
    const auto cells = static_cast<Eigen::Index>(size * size);
    const CoxProcess process(settings, std::vector<std::uint64_t>(size * size));
    Eigen::MatrixXd expected = whole_covariance(settings).inverse();
    // exp(mu + sigma^2) / m^2 with mu = log(126) - sigma^2 / 2.
    expected.diagonal().array() += 126 * std::exp(0.5 * 1.91) / static_cast<double>(cells);
    const std::vector<double> metric = process.mass_matrix();
    const std::vector<double> inverse = process.inverse_mass_matrix();
    const Eigen::Map<const Eigen::MatrixXd> mass(metric.data(), cells, cells);
    const Eigen::Map<const Eigen::MatrixXd> inverse_mass(inverse.data(), cells, cells);
    EXPECT_LT((mass - expected).cwiseAbs().maxCoeff(), 1e-11);
    const auto identity = Eigen::MatrixXd::Identity(cells, cells);
    EXPECT_LT((expected * inverse_mass - identity).cwiseAbs().maxCoeff(), 1e-11);
  }
}

// The total of all counts has the expected number as mean, and variance mean + sum_ab E_a E_b
// (exp(C_ab) - 1), E being the expected counts of cells. Its tails are heavy: four errors for the
// mean (odds of 6e-5), and a third for the variance.
TEST(CoxProcess, SimulatedCountsHaveTheRightMeanAndVariance) {
  const CoxSettings settings{.size = 6, .variance = 0.5, .expected_points = 60};
  const double of_cell = 60.0 / 36;
  const double variance =
      60 + of_cell * of_cell * (whole_covariance(settings).array().exp() - 1).sum();
  const int repetitions = 1000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t seed = 0; seed < repetitions; ++seed) {
    double total = 0;
    for (const std::uint64_t count : simulate_cox_counts(settings, seed)) {
      total += static_cast<double>(count);
    }
    sum += total - 60;
    squares += (total - 60) * (total - 60);
  }
  EXPECT_LT(std::abs(sum / std::sqrt(repetitions * variance)), 4);
  EXPECT_NEAR(squares / repetitions / variance, 1, 0.33);
}

TEST(CoxProcess, IsNamedByCell) {
  const CoxProcess process({.size = 2}, std::vector<std::uint64_t>(4));
  EXPECT_EQ(process.names(), (std::vector<std::string>{"x.1.1", "x.1.2", "x.2.1", "x.2.2"}));
}

TEST(CoxProcess, RejectsInvalidData) {
  const std::vector<std::uint64_t> counts(9);
  expect_says(message_of<DataError>([&] { CoxProcess process({.size = 4}, counts); }),
              {"9 counts", "4 * 4 = 16"});
  const auto refuses = [&](const CoxSettings& settings, std::string_view name) {
    expect_says(message_of<ConfigError>([&] { CoxProcess process(settings, counts); }), {name});
    expect_says(message_of<ConfigError>([&] { simulate_cox_counts(settings, 1); }), {name});
  };
  refuses({.size = 1}, "size");
  refuses({.size = 129}, "size");
  refuses({.length_scale = 0}, "length_scale");
  refuses({.variance = std::nan("")}, "variance");
  refuses({.expected_points = -1}, "expected_points");
}

}  // namespace
}  // namespace rehmc::testing::cox_process_test
