// The numbers that users read of a state: parameters on their own scales and functions of them.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
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

/// A coordinate on another scale.
struct MappedCoordinate {
  std::size_t coordinate = 0;
  CoordinateMap map = CoordinateMap::identity;

  double at(std::span<const double> position) const { return apply(map, position[coordinate]); }
  friend bool operator==(const MappedCoordinate&, const MappedCoordinate&) = default;
};

/// A coordinate times one other coordinate, plus one: Stan's offset and multiplier.
struct ScaledCoordinate {
  std::size_t coordinate = 0;
  std::optional<MappedCoordinate> offset{};
  std::optional<MappedCoordinate> multiplier{};

  double at(std::span<const double> position) const {
    return std::fma(multiplier ? multiplier->at(position) : 1.0, position[coordinate],
                    offset ? offset->at(position) : 0.0);
  }
};

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
  /// Where it is known to be that, and no function of its coordinate alone.
  std::optional<ScaledCoordinate> scaled{};

  /// Whether value_at() needs no model.
  bool follows_from_coordinates() const {
    return scaled || (coordinate && map != CoordinateMap::unknown);
  }
  double value_at(std::span<const double> position) const {
    return scaled ? scaled->at(position) : apply(map, position[*coordinate]);
  }

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
