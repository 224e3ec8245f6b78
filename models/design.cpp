// Checks of the data of a regression that all of them share.
#include "models/design.hpp"

#include <fmt/format.h>

#include <cmath>

#include "rehmc/core/error.hpp"

namespace rehmc {

void check_design(std::string_view model, std::size_t observations, std::size_t predictors,
                  std::span<const double> x, std::size_t responses) {
  if (observations == 0 || predictors == 0) {
    throw DataError(
        fmt::format("{}: found {} observations of {} predictors, give at least one of each", model,
                    observations, predictors));
  }
  if (x.size() != observations * predictors) {
    throw DataError(
        fmt::format("{}: x has {} numbers, must be {} observations times {} predictors = {}", model,
                    x.size(), observations, predictors, observations * predictors));
  }
  if (responses != observations) {
    throw DataError(fmt::format("{}: y has {} entries, must be {} (one per row)", model, responses,
                                observations));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i])) continue;
    throw DataError(fmt::format("{}: x is {} in row {}, column {}, must be finite", model, x[i],
                                i / predictors + 1, i % predictors + 1));
  }
}

}  // namespace rehmc
