// The settings of a run as JSON: a part of the manifest, and what report and netCDF file show.
#pragma once

#include <nlohmann/json.hpp>

#include "rehmc/job/run_settings.hpp"

namespace rehmc {

/// An object with all settings, including starting positions and the initial metric.
nlohmann::ordered_json settings_json(const RunSettings& settings);
/// The settings of such an object. DataError names what is missing or wrong.
RunSettings settings_from_json(const nlohmann::ordered_json& json);

}  // namespace rehmc
