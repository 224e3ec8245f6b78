// Whole numbers of JSON, as they stand there.
//
// The JSON library would cut 2.7 to 2, and 2^33 to what is left of it in 32 bits.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "rehmc/core/error.hpp"

namespace rehmc {

/// Reads the value of a field; throws DataError if it is not a whole number that fits.
template <std::integral Number>
void read_whole(const nlohmann::ordered_json& json, std::string_view field, Number& number) {
  const bool fits = json.is_number_unsigned()  ? std::in_range<Number>(json.get<std::uint64_t>())
                    : json.is_number_integer() ? std::in_range<Number>(json.get<std::int64_t>())
                                               : false;
  if (!fits) {
    throw DataError(fmt::format("'{}' must be a whole number{}, and is {}", field,
                                json.is_number() ? " in range" : "", json.dump()));
  }
  json.get_to(number);
}

}  // namespace rehmc
