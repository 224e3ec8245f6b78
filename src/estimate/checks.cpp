// Checks of arguments that every estimate needs.
#include "rehmc/estimate/checks.hpp"

#include <fmt/core.h>

#include <cmath>

#include "rehmc/core/error.hpp"

namespace rehmc {

void require_weight(double weight) {
  if (!(weight >= 0 && std::isfinite(weight))) {
    throw DataError(fmt::format("weight = {}: must be finite and not negative", weight));
  }
}

void require_probability(double probability) {
  if (!(probability >= 0 && probability <= 1)) {
    throw ConfigError(fmt::format("probability = {}: must lie between 0 and 1", probability));
  }
}

}  // namespace rehmc
