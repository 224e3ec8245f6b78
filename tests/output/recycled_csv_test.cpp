// Recycled states as CSV: every kept state of a draw, with the logarithm of its weight.
#include "rehmc/output/recycled_csv.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace rehmc::recycled_csv_test {
namespace {

TEST(RecycledCsv, OneLineForEveryKeptState) {
  const std::vector<double> values{1, 2, 3, 4, 0.1, -0.0};
  const auto state = [&](std::size_t i, double weight) {
    return WeightedState{{std::span(values).subspan(2 * i, 2), {}, 0}, weight};
  };
  const std::vector<std::vector<WeightedState>> kept{
      {state(0, 1)}, {}, {state(1, 0.5), state(2, 0.5)}};

  EXPECT_EQ(recycled_csv_head({"mu", "theta.1"}),
            "chain__,iter__,slot__,log_weight__,mu,theta.1\n");
  std::string text;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    ReadDraw draw;
    draw.kept = kept[i];
    append_recycled_rows(text, draw, i, 7);
  }
  EXPECT_EQ(text,
            "7,1,1,0,1,2\n"
            "7,3,1,-0.6931471805599453,3,4\n"
            "7,3,2,-0.6931471805599453,0.1,-0\n");
}

}  // namespace
}  // namespace rehmc::recycled_csv_test
