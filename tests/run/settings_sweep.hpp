// Tries bad values on every setting that a struct declares.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc::testing {

template <class Value>
std::vector<Value> absurd_values() {
  if constexpr (std::is_floating_point_v<Value>) {
    return {-infinity,
            -1e300,
            -1,
            -1e-300,
            0,
            0.3,
            1,
            2,
            1e300,
            infinity,
            std::numeric_limits<double>::quiet_NaN()};
  } else if constexpr (std::is_signed_v<Value>) {
    return {std::numeric_limits<Value>::min(), -1, 0, 1, 2, std::numeric_limits<Value>::max()};
  } else {
    return {0, 1, std::numeric_limits<Value>::max()};
  }
}

/// For every setting of `Struct` and every absurd value outside its range, `check(values)` must
/// throw a ConfigError that names the setting and the value. Returns the number of rejected values.
template <class Struct, class Check>
int expect_settings_are_checked(const Struct& good, Check&& check) {
  EXPECT_NO_THROW(check(good));
  int refused = 0;
  const auto sweep = [&](const auto& setting) {
    using Value = std::remove_cvref_t<decltype(good.*(setting.field))>;
    EXPECT_TRUE(setting.range.contains(static_cast<double>(good.*(setting.field))))
        << setting.name << ": the default is out of range";
    EXPECT_FALSE(setting.help.empty()) << setting.name;
    if constexpr (!std::is_same_v<Value, bool>) {
      int refused_here = 0;
      for (const Value value : absurd_values<Value>()) {
        if (setting.range.contains(static_cast<double>(value))) continue;
        ++refused_here;
        Struct bad = good;
        bad.*(setting.field) = value;
        try {
          check(bad);
          ADD_FAILURE() << setting.name << " = " << value << " was accepted";
        } catch (const ConfigError& error) {
          EXPECT_NE(std::string(error.what()).find(setting.name), std::string::npos)
              << error.what() << " does not name " << setting.name;
          EXPECT_NE(std::string(error.what()).find("found"), std::string::npos) << error.what();
        }
      }
      // No setting here may be negative, NaN or infinite.
      if (std::is_signed_v<Value>) {
        EXPECT_GE(refused_here, 2) << setting.name;
      }
      refused += refused_here;
    }
  };
  std::apply([&](const auto&... setting) { (sweep(setting), ...); }, Struct::settings());
  return refused;
}

/// The message of the error of type E that `action` throws; a failure if it throws none.
template <class E, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no error";
  return {};
}

inline bool mentions(const std::string& message, const std::string& word) {
  return message.find(word) != std::string::npos;
}

}  // namespace rehmc::testing
