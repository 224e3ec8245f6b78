// The numbers that users read of a state: parameters on their own scales and functions of them.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rehmc {

/// How a quantity follows from its coordinate, where that is known.
enum class CoordinateMap { unknown, identity, exponential, logistic };
constexpr CoordinateMap greatest(CoordinateMap /*of*/) { return CoordinateMap::logistic; }

inline double apply(CoordinateMap map, double x) {
  if (map == CoordinateMap::exponential) return std::exp(x);
  // Neither way overflows.
  if (map == CoordinateMap::logistic) {
    return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
  }
  return x;
}

/// One number that a model computes from a state.
struct Quantity {
  std::string name;
  /// The coordinate, if this is a monotone function of one coordinate alone.
  std::optional<std::size_t> coordinate{};
  /// Whether it is drawn at random, rather than determined by the state; but see `determined`.
  bool generated = false;
  /// Of a generated quantity: whether it is known to be determined by the state after all.
  bool determined = false;
  bool transformed = false;  ///< a transformed parameter
  CoordinateMap map = CoordinateMap::unknown;

  bool is_parameter() const { return !generated && !transformed; }
  bool is_random() const { return generated && !determined; }
};

inline std::vector<std::string> names_of(const std::vector<Quantity>& quantities) {
  std::vector<std::string> names;
  names.reserve(quantities.size());
  for (const Quantity& quantity : quantities) names.push_back(quantity.name);
  return names;
}

}  // namespace rehmc
