// Writes summary, netCDF file and report into a run's folder.
#include "rehmc/job/finish.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "output_checksums.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/netcdf.hpp"
#include "rehmc/report/report.hpp"
#include "rehmc/report/trajectory.hpp"
#include "rehmc/summary/summary_json.hpp"
#include "settings_json.hpp"

namespace rehmc {

namespace {

/// The settings as the report lists them: a group of settings is one entry.
std::vector<ReportSetting> shown_settings(const RunSettings& settings) {
  std::vector<ReportSetting> shown;
  const nlohmann::ordered_json json = settings_json(settings);
  for (const auto& [name, value] : json.items()) {
    shown.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  return shown;
}

}  // namespace

namespace {

void write_page(const RunFolder& folder, const Manifest& manifest, const SampleResult& result,
                const RunSummary& summary) {
  ReportInfo info;
  info.title = manifest.model.name;
  info.version = manifest.version;
  info.date = manifest.created;
  info.command =
      fmt::format("rehmc sample {}{} --seed {}", manifest.model.name,
                  std::filesystem::exists(folder.data()) ? " --data data.json" : "", manifest.seed);
  info.settings = shown_settings(manifest.settings);
  info.trajectory = read_trajectory(folder);
  write_whole(folder.report(), report_page(result, summary, info));
}

}  // namespace

void write_report(const RunFolder& folder, const Manifest& manifest, const SampleResult& result,
                  const RunSummary& summary) {
  ChecksumUpdate update(folder);
  write_page(folder, manifest, result, summary);
  update.finish({folder.report()});
}

RunSummary finish_run(const RunFolder& folder, const Manifest& manifest, SampleResult result,
                      const Density* density, std::optional<RunEstimates> known) {
  cut_to_shortest(result);
  RunSummary summary = known ? summarise_run(result, std::move(*known))
                             : summarise_run(result, manifest.settings.sample.sharpen);
  ChecksumUpdate update(folder);
  write_whole(folder.summary(), summary_json(summary, manifest.model.name, manifest.seed));

  NetcdfInfo info;
  info.version = manifest.version;
  info.created = manifest.created;
  info.settings_json = settings_json(manifest.settings).dump();
  info.thin = static_cast<std::size_t>(manifest.settings.thin);
  if (!summary.from_chunks) write_netcdf(folder.netcdf(), result, info);

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
  update.finish({folder.summary(), folder.netcdf(), folder.trajectory(), folder.report()});
  return summary;
}

}  // namespace rehmc
