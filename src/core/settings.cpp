// Range checks of settings, with messages that name the setting, the value and the remedy.
#include "rehmc/core/settings.hpp"

#include <fmt/format.h>

#include <cmath>

namespace rehmc {

bool Range::contains(double value) const noexcept {
  if (std::isnan(value)) return false;
  const bool above_least = open_below ? value > least : value >= least;
  const bool below_most = open_above ? value < most : value <= most;
  return above_least && below_most;
}

std::string Range::describe() const {
  const bool bounded_below = std::isfinite(least);
  const bool bounded_above = std::isfinite(most);
  if (bounded_below && bounded_above) {
    return fmt::format("in {}{}, {}{}", open_below ? '(' : '[', least, most,
                       open_above ? ')' : ']');
  }
  const auto finite = [](bool open) { return open ? " and finite" : ""; };
  if (bounded_below) {
    return fmt::format("{} {}{}", open_below ? "above" : "at least", least, finite(open_above));
  }
  if (bounded_above) {
    return fmt::format("{} {}{}", open_above ? "below" : "at most", most, finite(open_below));
  }
  return open_below && open_above ? "a finite number" : "a number";
}

void require_setting(std::string_view name, double value, const Range& range) {
  if (range.contains(value)) return;
  throw ConfigError(fmt::format("setting {}: found {}, must be {}", name, value, range.describe()));
}

}  // namespace rehmc
