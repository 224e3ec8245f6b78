// netCDF-4 files in the layout of ArviZ's InferenceData: one group per kind of result.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "rehmc/output/sample_result.hpp"

namespace rehmc {

/// Numbers in rows, last index fastest; a single number has no shape.
struct DataArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

/// What the attributes contain in addition to the result itself.
struct NetcdfInfo {
  std::string version{};                      ///< of rehmc
  std::string created{};                      ///< date and time
  std::string settings_json = "{}";           ///< the sampler's settings
  std::vector<std::size_t> log_likelihood{};  ///< columns of the group of that name
  std::vector<std::size_t> predictive{};      ///< those of posterior_predictive
  /// Numbers and arrays of numbers, by name: the groups observed_data and constant_data.
  std::map<std::string, DataArray> observed{};
  std::map<std::string, DataArray> constant{};
  bool recycled = true;  ///< whether to write recycled states
  std::size_t thin = 1;  ///< every thin-th draw is stored, beginning with the first
};

/// Whether this library was built with netCDF.
bool writes_netcdf() noexcept;

/// Writes a result with these groups:
///
/// - `posterior` and `sample_stats`, dimensions (chain, draw). Parameters of one base name whose
///   indices form a full grid are one variable: theta.1 ... theta.8 become theta(chain, draw,
///   theta_dim_0). All others stay scalars under their full names. A name that the format does not
///   allow or that means something else there (`chain`, `draw`) gets underscores.
/// - `log_likelihood`, `posterior_predictive`, `observed_data` and `constant_data`, if there are
/// any.
///   What is in the first two is not in `posterior`.
/// - `warmup_posterior` and `warmup_sample_stats`, if warmup was recorded.
/// - `recycled_posterior`, if it is wanted and the run recycled: parameters, and other columns that
/// are known of kept
///   states. If every draw keeps the same number of states,
///   its dimensions are (chain, draw, recycle), with a variable `log_weight` if the states of a
///   draw differ in weight. If the number varies, they are (chain, state), draw by draw, with
///   variables `draw` (the draw a state belongs to, as in the posterior's coordinate) and
///   `log_weight`; chains with fewer states are filled up with NaN, whose `draw` is -1 and whose
///   `log_weight` is -inf. The weights of a draw sum to 1.
///
/// Chains of unequal length are cut to the shortest. The file is complete or does not exist.
/// FileError names the path and the netCDF library's message; ConfigError without netCDF.
void write_netcdf(const std::filesystem::path& path, const SampleResult& result,
                  const NetcdfInfo& info);

}  // namespace rehmc
