// The windows of warmup against Stan's rule, computed by hand and by a second formulation.
#include "rehmc/adapt/windows.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "tests/run/settings_sweep.hpp"

namespace rehmc::windows_test {
namespace {

/// First iteration of a window, and one past its last.
struct Window {
  int begin;
  int end;
  bool operator==(const Window&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Window& window) {
    return out << "[" << window.begin << ", " << window.end << ")";
  }
};
using Windows = std::vector<Window>;

/// Goes through warmup as Warmup does.
Windows found_windows(int warmup, const WindowSettings& settings = {}) {
  WindowSchedule schedule(warmup, settings);
  Windows windows;
  bool inside = false;
  for (int i = 0; i < warmup; ++i) {
    if (schedule.starts_window(i)) {
      EXPECT_FALSE(inside);
      windows.push_back({i, -1});
      inside = true;
    }
    EXPECT_EQ(schedule.in_window(i), inside) << "iteration " << i;
    if (schedule.ends_window(i)) {
      EXPECT_TRUE(inside);
      windows.back().end = i + 1;
      inside = false;
      schedule.advance();
    }
  }
  EXPECT_FALSE(inside);
  return windows;
}

TEST(Windows, AreThoseOfStan) {
  EXPECT_EQ(found_windows(1000),
            (Windows{{75, 100}, {100, 150}, {150, 250}, {250, 450}, {450, 950}}));
  EXPECT_EQ(found_windows(2000),
            (Windows{{75, 100}, {100, 150}, {150, 250}, {250, 450}, {450, 850}, {850, 1950}}));
  EXPECT_EQ(found_windows(500), (Windows{{75, 100}, {100, 150}, {150, 250}, {250, 450}}));
  // Just enough for one window.
  EXPECT_EQ(found_windows(150), (Windows{{75, 100}}));
  // The second window gets the rest, even if it is shorter than the first.
  EXPECT_EQ(found_windows(160), (Windows{{75, 100}, {100, 110}}));
  // Too short for 75 + 25 + 50: 15%, 75% and 10%.
  EXPECT_EQ(found_windows(149), (Windows{{22, 135}}));
  EXPECT_EQ(found_windows(100), (Windows{{15, 90}}));
  EXPECT_EQ(found_windows(20), (Windows{{3, 18}}));
  EXPECT_EQ(found_windows(19), Windows{});
  EXPECT_EQ(found_windows(0), Windows{});
}

/// The same rule by the last iterations of windows: a window ends at its planned last iteration,
/// unless the one after it, twice as long, would not end before the last phase begins.
Windows windows_by_last_iterations(int warmup, int first, int base, int last) {
  if (warmup < 20) return {};
  if (first + base + last > warmup) {
    first = static_cast<int>(0.15 * warmup);
    last = static_cast<int>(0.1 * warmup);
    base = warmup - first - last;
  }
  const int final_iteration = warmup - last - 1;
  Windows windows;
  int begin = first;
  int length = base;
  int window_end = first + base - 1;
  for (;;) {
    windows.push_back({begin, window_end + 1});
    if (window_end == final_iteration) return windows;
    begin = window_end + 1;
    length *= 2;
    window_end += length;
    const int end_after = window_end + 2 * length;
    if (window_end != final_iteration && end_after > final_iteration) window_end = final_iteration;
  }
}

TEST(Windows, FollowTheRuleForAllLengths) {
  const std::vector<WindowSettings> all{{},
                                        {.first_phase = 0, .first_window = 1, .last_phase = 0},
                                        {.first_phase = 10, .first_window = 7, .last_phase = 3},
                                        {.first_phase = 0, .first_window = 20, .last_phase = 0},
                                        {.first_phase = 75, .first_window = 25, .last_phase = 0},
                                        {.first_phase = 500, .first_window = 500, .last_phase = 1}};
  for (const WindowSettings& settings : all) {
    for (int warmup = 0; warmup < 1300; ++warmup) {
      ASSERT_EQ(found_windows(warmup, settings),
                windows_by_last_iterations(warmup, settings.first_phase, settings.first_window,
                                           settings.last_phase))
          << warmup << " iterations, " << settings.first_phase << " " << settings.first_window
          << " " << settings.last_phase;
    }
  }
}

TEST(Windows, HugeSettingsDoNotOverflow) {
  EXPECT_EQ(found_windows(100, {.first_phase = 1'000'000'000,
                                .first_window = 1'000'000'000,
                                .last_phase = 1'000'000'000}),
            (Windows{{15, 90}}));
  WindowSchedule schedule(1'000'000'000,
                          {.first_phase = 0, .first_window = 900'000'000, .last_phase = 0});
  EXPECT_TRUE(schedule.ends_window(899'999'999));
  schedule.advance();
  EXPECT_TRUE(schedule.starts_window(900'000'000));
  EXPECT_TRUE(schedule.ends_window(999'999'999));
}

TEST(Windows, SettingsAreChecked) {
  const auto check = [](const WindowSettings& settings) { WindowSchedule(1000, settings); };
  EXPECT_GE(testing::expect_settings_are_checked(WindowSettings{}, check), 9);
}

}  // namespace
}  // namespace rehmc::windows_test
