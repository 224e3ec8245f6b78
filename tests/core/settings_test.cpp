// Ranges of settings: what they contain, their descriptions, their error messages.
#include "rehmc/core/settings.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>
#include "rehmc/core/numerics.hpp"

namespace rehmc::settings_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Range, bounds_are_inside_unless_open) {
  EXPECT_TRUE(at_least(1).contains(1));
  EXPECT_FALSE(at_least(1).contains(0.999));
  EXPECT_TRUE(at_least(1).contains(infinity));
  EXPECT_FALSE(above(1).contains(1));
  EXPECT_TRUE(above(1).contains(1.001));
  EXPECT_TRUE(between(0, 1).contains(0));
  EXPECT_TRUE(between(0, 1).contains(1));
  EXPECT_FALSE(between(0, 1).contains(1.001));
  EXPECT_FALSE(inside(0, 1).contains(0));
  EXPECT_FALSE(inside(0, 1).contains(1));
  EXPECT_TRUE(inside(0, 1).contains(0.5));
  EXPECT_FALSE(positive_finite().contains(0));
  EXPECT_FALSE(positive_finite().contains(infinity));
  EXPECT_TRUE(positive_finite().contains(std::numeric_limits<double>::denorm_min()));
  EXPECT_TRUE(positive_finite().contains(std::numeric_limits<double>::max()));
}

TEST(Range, never_contains_nan) {
  for (const Range& range : {Range{}, at_least(0), above(0), between(0, 1), positive_finite()}) {
    EXPECT_FALSE(range.contains(nan));
  }
}

TEST(Range, describes_itself) {
  EXPECT_EQ(at_least(1).describe(), "at least 1");
  EXPECT_EQ(above(0.5).describe(), "above 0.5");
  EXPECT_EQ(between(0, 1).describe(), "in [0, 1]");
  EXPECT_EQ(inside(0, 1).describe(), "in (0, 1)");
  EXPECT_EQ((Range{.least = 0, .most = 1, .open_above = true}).describe(), "in [0, 1)");
  EXPECT_EQ(positive_finite().describe(), "above 0 and finite");
  EXPECT_EQ((Range{.most = 3}).describe(), "at most 3");
  EXPECT_EQ((Range{.most = 3, .open_above = true}).describe(), "below 3");
  EXPECT_EQ((Range{.most = 3, .open_below = true}).describe(), "at most 3 and finite");
  EXPECT_EQ(Range{}.describe(), "a number");
  EXPECT_EQ((Range{.open_below = true, .open_above = true}).describe(), "a finite number");
}

struct Oven {
  double heat = 200;
  int minutes = 30;

  static constexpr auto settings() {
    return std::tuple{
        Setting<Oven, double>{"heat", &Oven::heat, positive_finite(), "degrees Celsius"},
        Setting<Oven, int>{"minutes", &Oven::minutes, between(1, 600), "time to bake"}};
  }
};

std::string refusal(const Oven& oven) {
  try {
    check_settings(oven);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, accepts_what_is_in_range) { EXPECT_EQ(refusal(Oven{}), ""); }

TEST(Settings, refusal_names_setting_value_and_range) {
  EXPECT_EQ(refusal({.heat = -1}), "setting heat: found -1, must be above 0 and finite");
  EXPECT_EQ(refusal({.heat = nan}), "setting heat: found nan, must be above 0 and finite");
  EXPECT_EQ(refusal({.heat = infinity}), "setting heat: found inf, must be above 0 and finite");
  EXPECT_EQ(refusal({.minutes = 0}), "setting minutes: found 0, must be in [1, 600]");
  EXPECT_EQ(refusal({.minutes = 601}), "setting minutes: found 601, must be in [1, 600]");
}

}  // namespace
}  // namespace rehmc::settings_test
