// What a run leaves behind when it ends: summary, netCDF file, report.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "rehmc/model/log_density.hpp"
#include "rehmc/output/run_folder.hpp"
#include "rehmc/output/sample_result.hpp"
#include "rehmc/run/manifest.hpp"
#include "rehmc/run/report.hpp"
#include "rehmc/run/run_summary.hpp"

namespace rehmc {

/// Cuts all chains to the length of the shortest, which is what convergence can be judged by.
void cut_to_shortest(SampleResult& result);

/// Chains must be of equal length. Without `sharpen`, gradients only serve the Stein check.
RunSummary summarise_run(const SampleResult& result, bool sharpen = true);

/// The summary as a JSON document: docs/files.md describes it.
std::string summary_json(const RunSummary& summary, const std::string& model, std::uint64_t seed);

/// One transition from a state, with all the states it visits, for a picture.
TracedTrajectory trace_trajectory(const Density& density, const KernelSettings& settings,
                                  const Tuning& tuning, const Address& address,
                                  std::span<const double> position);
void write_trajectory(const RunFolder& folder, const TracedTrajectory& trajectory);
/// Empty if there is none.
TracedTrajectory read_trajectory(const RunFolder& folder);

/// The page about a run.
void write_report(const RunFolder& folder, const Manifest& manifest, const SampleResult& result,
                  const RunSummary& summary);

/// Writes everything into the folder. `density` may be null: then the picture of a trajectory is
/// the one that is there already.
RunSummary finish_run(const RunFolder& folder, const Manifest& manifest, SampleResult result,
                      const Density* density);

}  // namespace rehmc
