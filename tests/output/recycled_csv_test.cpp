// Recycled states as CSV: every kept state of a draw, with the logarithm of its weight.
#include "rehmc/output/recycled_csv.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/output/records.hpp"

namespace rehmc {
namespace {

TEST(RecycledCsv, OneLineForEveryKeptState) {
  ChainRecord record = testing::empty_record(2, 3);
  record.kept = {1, 2, 3, 4, 0.1, -0.0};
  record.kept_weight = {1, 0.5, 0.5};
  record.kept_end = {1, 1, 3};  // the second draw kept nothing

  EXPECT_EQ(recycled_csv_head({"mu", "theta.1"}),
            "chain__,iter__,slot__,log_weight__,mu,theta.1\n");
  std::string text;
  for (std::size_t draw = 0; draw < 3; ++draw) append_recycled_rows(text, record, draw, 7);
  EXPECT_EQ(text,
            "7,1,1,0,1,2\n"
            "7,3,1,-0.6931471805599453,3,4\n"
            "7,3,2,-0.6931471805599453,0.1,-0\n");
}

}  // namespace
}  // namespace rehmc
