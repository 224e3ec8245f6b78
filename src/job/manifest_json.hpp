// Private to job/: manifests as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "rehmc/job/manifest.hpp"

namespace rehmc {

inline constexpr std::string_view manifest_format = "rehmc run folder";
inline constexpr int manifest_format_version = 4;

/// Everything but the checksum.
nlohmann::ordered_json manifest_json(const Manifest& manifest);
/// Throws for anything that is not the JSON of a manifest of this format.
Manifest manifest_from_json(const nlohmann::ordered_json& json);

}  // namespace rehmc
