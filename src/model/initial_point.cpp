// Initial points: random with several tries, given by the user, or zero.
#include "rehmc/model/initial_point.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

#include "rehmc/core/error.hpp"
#include "rehmc/core/stan_name.hpp"

namespace rehmc {
namespace {

using FaultCounts = std::array<std::uint32_t, fault_count>;

std::string list_causes(const FaultCounts& counts) {
  std::string list;
  for (std::size_t i = 0; i < fault_count; ++i) {
    if (counts[i] == 0) continue;
    list += fmt::format("{}{} times {}", list.empty() ? "" : ", ", counts[i],
                        describe(static_cast<Fault>(i)));
  }
  return list;
}

}  // namespace

std::vector<double> random_initial_point(Guard& guard, const InitialPointSettings& settings,
                                         const Address& address) {
  check_settings(settings);
  const double radius = settings.initial_radius;
  Stream stream(address, Purpose::initial_point);
  std::vector<double> position(guard.dimension());
  std::vector<double> gradient(guard.dimension());
  FaultCounts counts{};
  std::string first_error;
  for (std::uint32_t attempt = 0; attempt < settings.initial_tries; ++attempt) {
    for (double& coordinate : position) coordinate = radius * (2 * stream.uniform() - 1);
    try {
      guard.evaluate_strictly(position, gradient);
      return position;
    } catch (const GradientLengthError&) {
      throw;  // other points would fail too
    } catch (const ModelError& error) {
      ++counts[static_cast<std::size_t>(guard.last_fault())];
      if (first_error.empty()) first_error = error.what();
    }
  }
  const bool threw = counts[static_cast<std::size_t>(Fault::exception)] > 0;
  throw ModelError(fmt::format(
      "no usable starting point in {} tries, uniform on (-{}, {}): {}{}. The first try: {}. Give "
      "a starting point or a smaller range (--init), or check the support of the model's "
      "parameters",
      settings.initial_tries, radius, radius, list_causes(counts),
      threw ? fmt::format(" (its first message: {})", guard.first_message()) : std::string(),
      first_error));
}

std::vector<double> given_initial_point(Guard& guard, std::span<const double> position) {
  if (position.size() != guard.dimension()) {
    throw ConfigError(fmt::format(
        "initial point: found {} coordinates, but the model has {}: give one value per coordinate",
        position.size(), guard.dimension()));
  }
  for (std::size_t i = 0; i < position.size(); ++i) {
    if (std::isfinite(position[i])) continue;
    throw ConfigError(
        fmt::format("initial point: {} (coordinate {} of {}) is {}, but must be finite",
                    stan_name(guard.density().names()[i]), i + 1, position.size(), position[i]));
  }
  std::vector<double> gradient(guard.dimension());
  try {
    guard.evaluate_strictly(position, gradient);
  } catch (const GradientLengthError&) {
    throw;
  } catch (const ModelError& error) {
    throw ModelError(
        fmt::format("cannot start at the given initial point: {}. Start at another point, or at "
                    "random",
                    error.what()));
  }
  return {position.begin(), position.end()};
}

}  // namespace rehmc
