// The sizes of the experiments.
#include "experiments/scale.hpp"

#include <fmt/format.h>

#include "rehmc/core/error.hpp"

namespace rehmc::experiments {

std::string describe(Scale scale) {
  switch (scale) {
    case Scale::smoke:
      return "smoke";
    case Scale::quick:
      return "quick";
    case Scale::full:
      return "full";
  }
  return "";
}

Scale parse_scale(std::string_view name) {
  for (const Scale scale : {Scale::smoke, Scale::quick, Scale::full}) {
    if (name == describe(scale)) return scale;
  }
  throw ConfigError(fmt::format("setting scale: found '{}', expected smoke, quick or full", name));
}

Size size_of(Scale scale, CaseName name) {
  const bool cox = name == CaseName::cox;
  const bool large = cox || name == CaseName::volatility;
  switch (scale) {
    case Scale::smoke:
      return large ? Size{20, 64, 10, 16, 200, 60, 16, 160, 20, cox ? std::size_t{1} : 0}
                   : Size{40, 160, 10, 16, 300, 100, 32, 320, 40, 4};
    case Scale::quick:
      return large ? Size{40, 320, 20, 16, 400, 100, 32, 480, 50, 1}
                   : Size{80, 800, 20, 32, 600, 150, 64, 1600, 100, 4};
    case Scale::full:
      break;
  }
  if (cox) return {100, 1600, 20, 32, 600, 200, 64, 2400, 100, 1};
  if (large) return {400, 3200, 20, 32, 1000, 200, 64, 4800, 100, 2};
  return {400, 3200, 20, 32, 1000, 300, 128, 6400, 100, 20};
}

std::size_t cox_grid_of(Scale scale) { return scale == Scale::smoke ? 24 : 64; }

TuningSize tuning_size_of(Scale scale, CaseName name) {
  const bool gaussian = name == CaseName::gaussian;
  if (!gaussian && name != CaseName::logistic) return {{}, 0, 1};
  switch (scale) {
    case Scale::smoke:
      return gaussian ? TuningSize{{400}, 10, 5} : TuningSize{{}, 0, 1};
    case Scale::quick:
      return gaussian ? TuningSize{{400, 800}, 40, 20} : TuningSize{{500}, 20, 10};
    case Scale::full:
      break;
  }
  return {gaussian ? std::vector<std::size_t>{400, 800} : std::vector<std::size_t>{500, 1000, 2000},
          400, 20};
}

std::size_t sharpening_runs_of(Scale scale, CaseName name) {
  const bool large = name == CaseName::cox || name == CaseName::volatility;
  switch (scale) {
    case Scale::smoke:
      return name == CaseName::gaussian ? 4 : 0;
    case Scale::quick:
      return large ? 4 : 8;
    case Scale::full:
      break;
  }
  return large ? 10 : 40;
}

OverheadSize overhead_size_of(Scale scale) {
  switch (scale) {
    case Scale::smoke:
      return {2, 2};
    case Scale::quick:
      return {10, 3};
    case Scale::full:
      break;
  }
  return {60, 3};
}

}  // namespace rehmc::experiments
