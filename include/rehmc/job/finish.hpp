// Writes the results of a run when it ends: summary, netCDF file, report.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "rehmc/job/manifest.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/output/run_folder.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/summary/run_summary.hpp"

namespace rehmc {

/// The columns that are summarised from kept states as well as from draws: parameters. Also what
/// the state determines besides: if the settings ask for all; if `until` judges its errors; or if
/// that costs little, counted in numbers, compared with the gradients of the run.
std::vector<std::size_t> summarised_columns(const RunSettings& settings,
                                            const SampleResult& result);

/// The summary that finish_run() stored, if it is that of these draws; none if it is missing or
/// damaged, or if there are none.
std::optional<RunSummary> stored_summary(const RunFolder& folder, const Manifest& manifest,
                                         SampleResult& result);

/// The summary of a run whose draws are loaded or in memory, leave-one-out included.
RunSummary summarise_job(const Manifest& manifest, const SampleResult& result, bool sharpen);

/// Writes the page about a run.
void write_report(const RunFolder& folder, const Manifest& manifest, const SampleResult& result,
                  const RunSummary& summary);

/// Writes a netCDF file of a run; with `recycled`, also what its records know of kept states.
void export_netcdf(const std::filesystem::path& path, const RunFolder& folder,
                   const Manifest& manifest, const SampleResult& result, bool recycled);

/// Writes everything into the folder. `density` may be null: then the report shows the trajectory
/// that is already stored. `known`: estimates of exactly these draws, if there are any.
RunSummary finish_run(const RunFolder& folder, const Manifest& manifest, SampleResult result,
                      const Density* density, std::optional<RunEstimates> known = {});

}  // namespace rehmc
