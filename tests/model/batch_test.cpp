// Densities that evaluate many points at once, and densities with an external evaluator.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "models/eight_schools.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc::batch_test {
namespace {

/// Value and gradient show which call computed them.
class Square {
 public:
  std::size_t dimension() const { return 2; }
  double operator()(std::span<const double> x, std::span<double> gradient) {
    for (std::size_t i = 0; i < 2; ++i) gradient[i] = -2 * x[i];
    return -x[0] * x[0] - x[1] * x[1];
  }
};

class BatchedSquare : public Square {
 public:
  void evaluate_batch(const Batch& batch) {
    for (std::size_t c = 0; c < batch.columns; ++c) batch.log_densities[c] = 100;
  }
};

static_assert(!BatchedLogDensity<Square>);
static_assert(BatchedLogDensity<BatchedSquare>);

TEST(BatchedDensity, IsTheLoopOverThePlainCallWhereTheModelHasNone) {
  Density density{Square{}};
  EXPECT_FALSE(density.is_batched());
  const std::array<double, 8> positions{1, 2, 0, 3, 4, 0, 5, 6};
  std::array<double, 8> gradients{};
  std::array<double, 3> values{};
  density.evaluate_batch({3, 3, positions.data(), values.data(), gradients.data()});
  EXPECT_EQ(values, (std::array<double, 3>{-5, -25, -61}));
  EXPECT_EQ(gradients, (std::array<double, 8>{-2, -4, 0, -6, -8, 0, -10, -12}));
}

TEST(BatchedDensity, IsTheModelsOwnCallWhereItHasOne) {
  Density density{BatchedSquare{}};
  EXPECT_TRUE(density.is_batched());
  EXPECT_TRUE(Density(density).is_batched());
  std::array<double, 2> values{};
  density.evaluate_batch({2, 2, nullptr, values.data(), nullptr});
  EXPECT_EQ(values, (std::array<double, 2>{100, 100}));
}

class Counter final : public Evaluator {
 public:
  double evaluate(std::span<const double>, std::span<double> gradient) override {
    gradient[0] = 7;
    return ++calls;
  }
  int calls = 0;
};

TEST(RelayedDensity, IsEvaluatedByTheEvaluatorAndReadByTheModel) {
  const Density model{EightSchoolsNonCentred()};
  const auto counter = std::make_shared<Counter>();
  Density relayed = model.through(counter);
  Density copy = relayed;
  std::vector<double> x(model.dimension(), 0.5);
  std::vector<double> gradient(model.dimension());
  EXPECT_EQ(relayed(x, gradient), 1);
  EXPECT_EQ(copy(x, gradient), 2);
  EXPECT_EQ(gradient[0], 7);
  EXPECT_EQ(relayed.dimension(), model.dimension());
  EXPECT_EQ(relayed.names(), model.names());
  EXPECT_EQ(names_of(relayed.quantities()), names_of(model.quantities()));
  EXPECT_FALSE(relayed.reads_coordinates());
  std::vector<double> values(model.quantities().size());
  std::vector<double> expected(values.size());
  copy.evaluate_quantities(x, values, nullptr);
  Density(model).evaluate_quantities(x, expected, nullptr);
  EXPECT_EQ(values, expected);
}

}  // namespace
}  // namespace rehmc::batch_test
