// The settings of a run as users know them: as options of the command line, next to the defaults.
#pragma once

#include <string>
#include <vector>

#include "rehmc/job/manifest.hpp"
#include "rehmc/job/run_settings.hpp"
#include "rehmc/report/report.hpp"

namespace rehmc {

/// All settings, those that differ from their defaults first.
std::vector<ReportSetting> shown_settings(const RunSettings& settings);

/// The command that takes the same draws again.
std::string command_again(const Manifest& manifest);

}  // namespace rehmc
