// netCDF-4 files in the layout of ArviZ's InferenceData: one group per kind of result.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "rehmc/output/sample_result.hpp"

namespace rehmc {

/// What the attributes tell beside the result itself.
struct NetcdfInfo {
  std::string version{};             ///< of rehmc
  std::string created{};             ///< date and time
  std::string settings_json = "{}";  ///< how the sampler was set
  std::size_t thin = 1;              ///< every so many draws one is stored, the first one first
};

/// Writes a result with these groups:
///
/// - `posterior` and `sample_stats`, dimensions (chain, draw). Parameters of one base name whose
///   indices form a full grid are one variable: theta.1 ... theta.8 become theta(chain, draw,
///   theta_dim_0). All others stay scalars under their full names. A name that the format cannot
///   take or that means something else there (`chain`, `draw`) gets underscores.
/// - `warmup_posterior` and `warmup_sample_stats`, if warmup was recorded.
/// - `recycled_posterior`, if the run recycled. Where every draw keeps the same number of states,
///   its dimensions are (chain, draw, recycle), with a variable `log_weight` if the states of a
///   draw weigh differently. Where the number differs, they are (chain, state), draw by draw, with
///   variables `draw` (the draw a state belongs to, as in the posterior's coordinate) and
///   `log_weight`; chains with fewer states are filled up with NaN, whose `draw` is -1 and whose
///   `log_weight` is -inf. The weights of a draw sum to 1.
///
/// Chains of unequal length are cut to the shortest. The file is there entirely or not at all.
/// FileError names the path and what the netCDF library said.
void write_netcdf(const std::filesystem::path& path, const SampleResult& result,
                  const NetcdfInfo& info);

}  // namespace rehmc
