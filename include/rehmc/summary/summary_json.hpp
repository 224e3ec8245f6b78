// The summary of a run as a JSON document.
#pragma once

#include <cstdint>
#include <string>

#include "rehmc/summary/run_summary.hpp"

namespace rehmc {

/// The document of summary.json: docs/files.md describes it.
std::string summary_json(const RunSummary& summary, const std::string& model, std::uint64_t seed);

}  // namespace rehmc
