// Writes summary, netCDF file and report into a run's folder.
#include "rehmc/job/finish.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chain_checkpoint.hpp"
#include "data_arrays.hpp"
#include "output_checksums.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/core/stan_name.hpp"
#include "rehmc/job/predictive.hpp"
#include "rehmc/job/until.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/kept_quantities.hpp"
#include "rehmc/output/netcdf.hpp"
#include "rehmc/report/report.hpp"
#include "rehmc/report/trajectory.hpp"
#include "rehmc/summary/stored_estimates.hpp"
#include "rehmc/summary/summary_json.hpp"
#include "settings_json.hpp"
#include "shown_settings.hpp"

namespace rehmc {

namespace {

/// To read and to sharpen one scalar takes about as long as so many numbers of a gradient for each
/// kept state. A gradient costs its model more than its length, so this errs on the safe side.
constexpr double numbers_per_scalar = 100;
constexpr double cheap = 0.1;

bool is_cheap(std::size_t scalars, const SampleResult& result) {
  double sampling = 0;
  double states = 0;
  for (const ChainResult& chain : result.chains) {
    sampling += static_cast<double>(chain.gradients_warmup + chain.gradients_sampling);
    states += static_cast<double>(chain.record.kept_weight.size());
  }
  sampling *= static_cast<double>(result.coordinates.size());
  return static_cast<double>(scalars) * states * numbers_per_scalar <= cheap * sampling;
}

/// Stands for all draws and everything else that estimates are computed from, but not for dates.
std::string estimates_key(const RunFolder& folder, const Manifest& manifest) {
  ArchiveWriter key;
  nlohmann::ordered_json settings = settings_json(manifest.settings);
  settings["run"].erase("draws");
  settings["run"].erase("threads");
  key(version(), manifest.model.hash, manifest.seed, settings.dump());
  for (const ChainCheckpoint& checkpoint : stored_checkpoints(folder, manifest)) {
    key(checkpoint.states.seal);
  }
  return content_hash(key.bytes());
}

/// Observed are the variables that something predicts, and y where there are log likelihoods.
void add_data(const RunFolder& folder, const SampleResult& result, NetcdfInfo& info) {
  if (!std::filesystem::exists(folder.data())) return;
  std::set<std::string> observed;
  if (!info.log_likelihood.empty()) observed.insert("y");
  for (const std::size_t column : info.predictive) {
    const std::string& name = result.names[column];
    observed.insert(predicted_name(csv_variable(name)));
  }
  for (auto& [name, array] : data_arrays(read_file(folder.data()))) {
    (observed.contains(name) ? info.observed : info.constant)[name] = std::move(array);
  }
}

/// The variables that replicate data which the folder has.
std::vector<PredictiveCheck> predictive_checks(const RunFolder& folder, const Manifest& manifest,
                                               const SampleResult& result) {
  std::vector<PredictiveCheck> checks;
  if (!std::filesystem::exists(folder.data()) || result.quantities.empty()) return checks;
  for (const std::size_t column :
       predictive_columns(manifest.settings, result.quantities).predictive) {
    const std::string& name = result.names[column];
    const std::string variable = csv_variable(name);
    if (checks.empty() || checks.back().name != variable) checks.push_back({variable, {}, {}});
    checks.back().columns.push_back(column);
  }
  if (checks.empty()) return checks;
  const auto arrays = data_arrays(read_file(folder.data()));
  for (PredictiveCheck& check : checks) {
    const auto found = arrays.find(predicted_name(check.name));
    if (found != arrays.end()) check.observed = found->second.values;
  }
  std::erase_if(checks, [](const PredictiveCheck& check) { return check.observed.size() < 2; });
  return checks;
}

void write_page(const RunFolder& folder, const Manifest& manifest, const SampleResult& result,
                const RunSummary& summary) {
  ReportInfo info;
  info.title = manifest.model.name;
  info.version = manifest.version;
  info.date = manifest.created;
  info.command = command_again(manifest);
  info.settings = shown_settings(manifest.settings);
  info.trajectory = read_trajectory(folder);
  info.predictive = predictive_checks(folder, manifest, result);
  write_whole(folder.report(), report_page(result, summary, info));
}

RunSummary with_loo(const Manifest& manifest, const SampleResult& result, RunSummary summary) {
  const auto observations = predictive_columns(manifest.settings, result.quantities).log_likelihood;
  if (!observations.empty() && !summary.from_chunks) {
    summary.loo = summarise_loo(result, observations);
  }
  return summary;
}

}  // namespace

std::vector<std::size_t> summarised_columns(const RunSettings& settings,
                                            const SampleResult& result) {
  std::vector<std::size_t> parameters = columns_of_parameters(result);
  std::vector<std::size_t> all = columns_of_states(result);
  const auto judges_errors = [&] {
    if (settings.until.empty()) return false;
    return std::ranges::any_of(parse_until(settings.until),
                               [](const Condition& c) { return c.about_error(); });
  };
  const bool wanted =
      settings.sharpen_all || judges_errors() || is_cheap(all.size() - parameters.size(), result);
  return wanted ? all : parameters;
}

std::optional<RunSummary> stored_summary(const RunFolder& folder, const Manifest& manifest,
                                         SampleResult& result) {
  if (!std::filesystem::exists(folder.estimates())) return std::nullopt;
  return restore_summary(read_file(folder.estimates()), estimates_key(folder, manifest), result);
}

void write_report(const RunFolder& folder, const Manifest& manifest, const SampleResult& result,
                  const RunSummary& summary) {
  ChecksumUpdate update(folder);
  write_page(folder, manifest, result, summary);
  update.finish({folder.report()});
}

void export_netcdf(const std::filesystem::path& path, const RunFolder& folder,
                   const Manifest& manifest, const SampleResult& result, bool recycled) {
  const PredictiveColumns predictive = predictive_columns(manifest.settings, result.quantities);
  NetcdfInfo info;
  info.version = manifest.version;
  info.created = manifest.created;
  info.settings_json = settings_json(manifest.settings).dump();
  info.thin = static_cast<std::size_t>(manifest.settings.thin);
  info.log_likelihood = predictive.log_likelihood;
  info.predictive = predictive.predictive;
  info.recycled = recycled;
  add_data(folder, result, info);
  write_netcdf(path, result, info);
}

RunSummary summarise_job(const Manifest& manifest, const SampleResult& result, bool sharpen) {
  return with_loo(manifest, result, summarise_run(result, sharpen));
}

RunSummary finish_run(const RunFolder& folder, const Manifest& manifest, SampleResult result,
                      const Density* density, std::optional<RunEstimates> known) {
  cut_to_shortest(result);
  if (density != nullptr && !result.chains.front().running) {
    read_kept(*density, summarised_columns(manifest.settings, result), result);
  }
  RunSummary summary = known ? with_loo(manifest, result, summarise_run(result, std::move(*known)))
                             : summarise_job(manifest, result, manifest.settings.sample.sharpen);
  ChecksumUpdate update(folder);
  write_whole(folder.summary(), summary_json(summary, manifest.model.name, manifest.seed));
  if (!summary.from_chunks) {
    write_whole(folder.estimates(),
                archive_estimates(summary, result, estimates_key(folder, manifest)));
  }

  if (writes_netcdf() && !summary.from_chunks) {
    export_netcdf(folder.netcdf(), folder, manifest, result, manifest.settings.recycled_csv);
  }

  // A trajectory can only start from the coordinates themselves.
  if (density != nullptr && density->dimension() >= 2 && density->reads_coordinates()) {
    const ChainRecord& record = result.chains.front().record;
    if (record.dimension() == density->dimension() && record.size() > 0) {
      write_trajectory(folder, trace_trajectory(*density, manifest.settings.sample.kernel,
                                                result.chains.front().tuning, {manifest.seed, 0, 0},
                                                record.draw(record.size() - 1)));
    }
  }
  write_page(folder, manifest, result, summary);
  update.finish({folder.summary(), folder.estimates(), folder.netcdf(), folder.trajectory(),
                 folder.report()});
  return summary;
}

}  // namespace rehmc
