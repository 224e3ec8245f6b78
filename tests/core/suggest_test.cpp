// Suggestions for mistyped names: typos, case, prefixes, and none for very different names.
#include "rehmc/core/suggest.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rehmc::suggest_test {
namespace {

const std::vector<std::string> known{"eight-schools", "eight-schools-centred", "banana", "funnel",
                                     "y"};

TEST(Suggest, FindsWhatWasMeant) {
  EXPECT_EQ(nearest_name("eigth-schools", known), "eight-schools");  // swapped
  EXPECT_EQ(nearest_name("eight_schools", known), "eight-schools");  // underscore
  EXPECT_EQ(nearest_name("eight-school", known), "eight-schools");   // one missing
  EXPECT_EQ(nearest_name("bannana", known), "banana");               // one too many
  EXPECT_EQ(nearest_name("tunnel", known), "funnel");                // one replaced
  EXPECT_EQ(nearest_name("BANANA", known), "banana");                // case
  EXPECT_EQ(nearest_name("Y", known), "y");
  EXPECT_EQ(nearest_name("eight", known), "eight-schools");  // a beginning
  EXPECT_EQ(nearest_name("eight-schools-centered", known), "eight-schools-centred");
}

TEST(Suggest, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("zebra", known), "");
  EXPECT_EQ(nearest_name("", known), "");
  EXPECT_EQ(nearest_name("banana", {}), "");
  EXPECT_EQ(nearest_name(std::string(1000000, 'b'), known), "");
}

TEST(Suggest, AsksInWords) {
  EXPECT_EQ(did_you_mean("bananas", known), "; did you mean 'banana'?");
  EXPECT_EQ(did_you_mean("zebra", known), "");
}

}  // namespace
}  // namespace rehmc::suggest_test
