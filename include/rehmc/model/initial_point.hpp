// The starting point of a chain: random, given by the user, or zero; checked to be usable.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/model/guard.hpp"

namespace rehmc {

/// Settings of a random start.
struct InitialPointSettings {
  double initial_radius = 2;
  std::uint32_t initial_tries = 100;

  static constexpr auto settings() {
    using S = InitialPointSettings;
    return std::tuple{Setting{"initial_radius", &S::initial_radius, positive_finite(),
                              "random starting points are uniform on (-radius, radius)^d"},
                      Setting{"initial_tries", &S::initial_tries, between(1, 1e6),
                              "random starting points to try before giving up"}};
  }
};

/// The first of the points uniform on (-radius, radius)^d, from the stream of this address, where
/// the log density and its gradient are finite. ConfigError for bad settings; ModelError after the
/// last try, with the causes and their counts, or immediately if the gradient has the wrong length.
std::vector<double> random_initial_point(Guard& guard, const InitialPointSettings& settings,
                                         const Address& address);

/// The user's point. ConfigError if its length is not the dimension or a coordinate is not finite;
/// ModelError with the cause if the log density cannot be used there.
std::vector<double> given_initial_point(Guard& guard, std::span<const double> position);

}  // namespace rehmc
