// The three phases of warmup: step size, growing windows of metric estimation, step size again.
#pragma once

#include <tuple>

#include "rehmc/core/settings.hpp"

namespace rehmc {

/// Lengths of the phases, as in Stan.
struct WindowSettings {
  int first_phase = 75;   ///< iterations before the first window
  int first_window = 25;  ///< each window is twice as long as the one before
  int last_phase = 50;    ///< iterations after the last window

  static constexpr auto settings() {
    using S = WindowSettings;
    return std::tuple{Setting{"first_phase", &S::first_phase, between(0, 1e9),
                              "warmup iterations before the metric is estimated"},
                      Setting{"first_window", &S::first_window, between(1, 1e9),
                              "iterations in the first window of metric estimation"},
                      Setting{"last_phase", &S::last_phase, between(0, 1e9),
                              "warmup iterations after the metric is final"}};
  }
  bool operator==(const WindowSettings&) const = default;
};

/// For each iteration of warmup, in order: whether it belongs to a window and whether it ends one.
class WindowSchedule {
 public:
  /// If the phases do not fit, they take 15%, 75% and 10% of warmup; with fewer than 20 iterations
  /// there is no window. (Stan's rules.)
  WindowSchedule(int iterations, const WindowSettings& settings);

  bool in_window(int iteration) const {
    return iteration >= windows_begin_ && iteration < windows_end_;
  }
  bool starts_window(int iteration) const { return in_window(iteration) && iteration == begin_; }
  bool ends_window(int iteration) const { return in_window(iteration) && iteration == end_ - 1; }

  /// Moves to the next window, after the iteration that ended the last one.
  void advance();

  template <class Archive>
  void archive(Archive& archive) {
    archive(begin_, end_, length_);
  }

 private:
  int windows_begin_;
  int windows_end_;
  int begin_;  ///< current window
  int end_;    ///< one past it
  int length_;
};

}  // namespace rehmc
