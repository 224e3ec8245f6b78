// Writes summary, netCDF file and report into a run's folder.
#include "rehmc/job/finish.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "output_checksums.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/netcdf.hpp"
#include "rehmc/report/report.hpp"
#include "rehmc/report/trajectory.hpp"
#include "rehmc/summary/summary_json.hpp"
#include "settings_json.hpp"
#include "shown_settings.hpp"

namespace rehmc {

namespace {

void write_page(const RunFolder& folder, const Manifest& manifest, const SampleResult& result,
                const RunSummary& summary) {
  ReportInfo info;
  info.title = manifest.model.name;
  info.version = manifest.version;
  info.date = manifest.created;
  info.command = command_again(manifest);
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
                      const Density* density) {
  cut_to_shortest(result);
  RunSummary summary = summarise_run(result, manifest.settings.sample.sharpen);
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
