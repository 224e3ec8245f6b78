// Stan's schedule of windows.
#include "rehmc/adapt/windows.hpp"

#include <cstdint>

namespace rehmc {

namespace {

struct Phases {
  int first;
  int windows;
  int first_window;
};

Phases fit(int iterations, const WindowSettings& settings) {
  if (iterations < 20) return {iterations, 0, 0};
  // In 64 bits: three settings of 10^9 each are allowed.
  const std::int64_t wanted =
      std::int64_t{settings.first_phase} + settings.first_window + settings.last_phase;
  if (wanted > iterations) {
    const int first = static_cast<int>(0.15 * iterations);
    const int last = static_cast<int>(0.1 * iterations);
    return {first, iterations - first - last, iterations - first - last};
  }
  return {settings.first_phase, iterations - settings.first_phase - settings.last_phase,
          settings.first_window};
}

}  // namespace

WindowSchedule::WindowSchedule(int iterations, const WindowSettings& settings) {
  check_settings(settings);
  const Phases phases = fit(iterations, settings);
  windows_begin_ = phases.first;
  windows_end_ = phases.first + phases.windows;
  begin_ = windows_begin_;
  length_ = phases.first_window;
  end_ = begin_ + length_;
}

void WindowSchedule::advance() {
  begin_ = end_;
  // In 64 bits: windows may be as long as all of warmup.
  const std::int64_t length = 2 * std::int64_t{length_};
  const std::int64_t end = begin_ + length;
  // A window that could not be followed by one twice its length takes all that is left.
  const bool last = end + 2 * length > windows_end_;
  end_ = last ? windows_end_ : static_cast<int>(end);
  length_ = last ? windows_end_ - begin_ : static_cast<int>(length);
}

}  // namespace rehmc
