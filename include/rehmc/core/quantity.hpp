// The numbers that users read of a state: parameters on their own scales and functions of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rehmc {

/// One number that a model computes from a state.
struct Quantity {
  std::string name;
  /// The coordinate, if this is a monotone function of one coordinate alone.
  std::optional<std::size_t> coordinate{};
  /// Whether it is drawn at random, rather than determined by the state.
  bool generated = false;
};

inline std::vector<std::string> names_of(const std::vector<Quantity>& quantities) {
  std::vector<std::string> names;
  names.reserve(quantities.size());
  for (const Quantity& quantity : quantities) names.push_back(quantity.name);
  return names;
}

}  // namespace rehmc
