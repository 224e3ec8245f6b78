// Padded densities: every call of the model has the same number of columns.
#include "rehmc/model/padded.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/run/sample.hpp"

namespace rehmc::padded_test {
namespace {

/// Its value depends on the number of columns, as rounding may.
class WidthDependent {
 public:
  explicit WidthDependent(std::shared_ptr<std::set<std::size_t>> widths)
      : widths_(std::move(widths)) {}
  std::size_t dimension() const { return 3; }
  double operator()(std::span<const double> x, std::span<double> gradient) {
    double value = 0;
    evaluate_batch({1, 3, x.data(), &value, gradient.data()});
    return value;
  }
  void evaluate_batch(const Batch& batch) {
    widths_->insert(batch.columns);
    const double scale = 1 + 1e-13 * static_cast<double>(batch.columns);
    for (std::size_t c = 0; c < batch.columns; ++c) {
      batch.log_densities[c] = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const double x = batch.positions[c * batch.stride + i];
        batch.gradients[c * batch.stride + i] = -x * scale;
        batch.log_densities[c] -= x * x / 2 * scale;
      }
    }
  }

 private:
  std::shared_ptr<std::set<std::size_t>> widths_;
};

TEST(PaddedDensity, CallsTheModelWithOneNumberOfColumns) {
  const auto widths = std::make_shared<std::set<std::size_t>>();
  Density density = padded(WidthDependent(widths), 4);
  std::vector<double> gradient(3);
  EXPECT_DOUBLE_EQ(density(std::vector<double>{1, 2, 3}, gradient), -7 * (1 + 4e-13));
  for (const std::size_t columns : {1U, 3U, 4U, 9U}) {
    std::vector<double> positions(columns * 8, 0.0);
    std::vector<double> gradients(columns * 8, 9.0);
    std::vector<double> values(columns);
    for (std::size_t c = 0; c < columns; ++c) positions[c * 8] = 1.0 + static_cast<double>(c);
    density.evaluate_batch({columns, 8, positions.data(), values.data(), gradients.data()});
    for (std::size_t c = 0; c < columns; ++c) {
      const double x = positions[c * 8];
      EXPECT_DOUBLE_EQ(values[c], -x * x / 2 * (1 + 4e-13));
      EXPECT_DOUBLE_EQ(gradients[c * 8], -x * (1 + 4e-13));
      EXPECT_EQ(gradients[c * 8 + 3], 9.0) << "it wrote between the columns";
    }
  }
  EXPECT_EQ(*widths, std::set<std::size_t>{4});
}

TEST(PaddedDensity, GivesTheSameDrawsHoweverChainsAreGrouped) {
  const auto widths = std::make_shared<std::set<std::size_t>>();
  SampleSettings settings;
  settings.engine = EngineKind::batch;
  settings.chains = 6;
  settings.draws = 40;
  settings.seed = 3;
  settings.batch = 6;
  settings.threads = 1;
  const auto draws = [&](const Density& density) {
    std::vector<std::vector<double>> all;
    for (const ChainResult& chain : sample(density, settings).chains) {
      all.push_back(chain.record.draws);
    }
    return all;
  };
  const auto of_padded = draws(padded(WidthDependent(widths), 6));
  const auto of_plain = draws(WidthDependent(widths));
  settings.threads = 3;
  settings.batch = 2;
  EXPECT_EQ(draws(padded(WidthDependent(widths), 6)), of_padded);
  EXPECT_NE(draws(WidthDependent(widths)), of_plain) << "the control does not notice widths";
}

TEST(PaddedDensity, NeedsABatchedCallAndColumns) {
  const auto plain = FunctionDensity(1, [](auto, auto) { return 0.0; });
  EXPECT_THROW(padded(plain, 4), ModelError);
  EXPECT_THROW(padded(WidthDependent(std::make_shared<std::set<std::size_t>>()), 0), ConfigError);
}

}  // namespace
}  // namespace rehmc::padded_test
