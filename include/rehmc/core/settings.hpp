// How a room declares its settings (name, range, help) next to the struct that holds them.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "rehmc/core/error.hpp"

namespace rehmc {

/// The allowed values of a number. NaN is never allowed.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open_below = false;  ///< least itself is not allowed
  bool open_above = false;  ///< most itself is not allowed

  bool contains(double value) const noexcept;
  std::string describe() const;  ///< such as "in (0, 1)" or "at least 1"
};

constexpr Range at_least(double least) { return {.least = least}; }
constexpr Range above(double least) { return {.least = least, .open_below = true}; }
constexpr Range between(double least, double most) { return {.least = least, .most = most}; }
constexpr Range inside(double least, double most) {
  return {.least = least, .most = most, .open_below = true, .open_above = true};
}
constexpr Range positive_finite() { return {.least = 0, .open_below = true, .open_above = true}; }

/// One setting: the field it lives in, its name for users, its range, and a line of help.
template <class Struct, class Value>
struct Setting {
  std::string_view name;
  Value Struct::*field;
  Range range;
  std::string_view help;
};

template <class Struct, class Value>
Setting(std::string_view, Value Struct::*, Range, std::string_view) -> Setting<Struct, Value>;

/// Throws ConfigError naming the setting, the value found and the allowed range.
void require_setting(std::string_view name, double value, const Range& range);

/// Checks every number a settings struct declares in its `static constexpr auto settings()`.
template <class Struct>
void check_settings(const Struct& values) {
  std::apply(
      [&](const auto&... setting) {
        (require_setting(setting.name, static_cast<double>(values.*(setting.field)), setting.range),
         ...);
      },
      Struct::settings());
}

}  // namespace rehmc
