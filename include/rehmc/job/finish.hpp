// Writes the results of a run when it ends: summary, netCDF file, report.
#pragma once

#include <optional>

#include "rehmc/job/manifest.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/output/run_folder.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/summary/run_summary.hpp"

namespace rehmc {

/// Writes the page about a run.
void write_report(const RunFolder& folder, const Manifest& manifest, const SampleResult& result,
                  const RunSummary& summary);

/// Writes everything into the folder. `density` may be null: then the report shows the trajectory
/// that is already stored. `known`: estimates of exactly these draws, if there are any.
RunSummary finish_run(const RunFolder& folder, const Manifest& manifest, SampleResult result,
                      const Density* density, std::optional<RunEstimates> known = {});

}  // namespace rehmc
