// Models that Python holds: a density, and what a run folder stores of it.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "rehmc/job/manifest.hpp"
#include "rehmc/model/bridge.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc::python {

struct Model {
  Density density;
  ModelIdentity identity;
  std::string data{};
  std::string program{};
  std::string library{};
  std::optional<BridgeDensity> bridge{};
};

/// Adds the class and the functions that make models to the module.
void add_models(nanobind::module_& module);

}  // namespace rehmc::python
