// rehmc export: the recycled states of a run in files for other programs.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "command.hpp"
#include "new_folder.hpp"
#include "open_model.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/job/finish.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/kept_quantities.hpp"
#include "rehmc/output/recycled_arrow.hpp"
#include "rehmc/output/recycled_csv.hpp"
#include "rehmc/summary/calibrated_weights.hpp"
#include "rehmc/summary/run_summary.hpp"

namespace rehmc::cli {

namespace {

struct ExportOptions {
  std::string run;
  std::string form;
  std::string output;
  bool calibrated = false;
  TrustedCode trusted;
};

/// With the values of all functions of the state, which needs the model if that computes them.
SampleResult load_with_kept(const RunFolder& folder, const Manifest& manifest,
                            const TrustedCode& trusted) {
  if (!manifest.settings.store_draws ||
      manifest.settings.sample.kernel.recycling.kind == RecyclingKind::none) {
    throw DataError(
        fmt::format("{}: has no recycled states, since it was sampled with --no-draws or --recycle "
                    "none",
                    folder.path().string()));
  }
  SampleResult result = load_run(folder, manifest);
  cut_to_shortest(result);
  if (result.chains.front().record.computed) {
    const OpenedModel model = stored_model(manifest, folder, trusted);
    read_kept(model.density, columns_of_states(result), result);
  }
  return result;
}

/// One weight for every kept state, chain after chain; none if they were not asked for.
std::vector<double> calibrated_if_asked(const ExportOptions& options, const Manifest& manifest,
                                        const SampleResult& result) {
  if (!options.calibrated) return {};
  if (options.form != "csv" || manifest.settings.thin > 1) {
    throw ConfigError(
        "--calibrated: weights balance all kept states of a run; they are a column of csv, and not "
        "of a run with --thin");
  }
  if (const std::string why = summarise_run(result).sharpening.refused; !why.empty()) {
    throw DataError(fmt::format("no weights: {}", why));
  }
  return calibrated_weights(result).weights;
}

void write_csv_files(const std::filesystem::path& output, const SampleResult& result,
                     std::uint64_t thin, std::span<const double> calibrated) {
  for (std::size_t chain = 0; chain < result.chains.size(); ++chain) {
    const std::size_t states = result.chains[chain].record.kept_weight.size();
    const auto own = calibrated.first(calibrated.empty() ? 0 : states);
    calibrated = calibrated.subspan(own.size());
    write_whole(output / fmt::format("recycled-{}.csv", chain + 1),
                recycled_csv(result, chain, thin, own));
  }
}

int export_recycled(const ExportOptions& options) {
  if (options.form != "csv" && options.form != "arrow" && options.form != "netcdf") {
    throw ConfigError(
        fmt::format("--recycled: found '{}', expected csv, arrow or netcdf", options.form));
  }
  const RunFolder folder(options.run);
  const Manifest manifest = read_manifest(folder);
  NewFolder::require_free(options.output);  // before all that takes time
  const SampleResult result = load_with_kept(folder, manifest, options.trusted);
  const std::vector<double> calibrated = calibrated_if_asked(options, manifest, result);
  NewFolder output(options.output);
  const auto thin = static_cast<std::uint64_t>(manifest.settings.thin);
  if (options.form == "netcdf") {
    export_netcdf(output.path() / "posterior.nc", folder, manifest, result, true);
  } else if (options.form == "arrow") {
    write_whole(output.path() / "recycled.arrow", recycled_arrow(result, thin));
  } else {
    write_csv_files(output.path(), result, thin, calibrated);
  }
  output.keep();
  print("{}\n", options.output);
  return 0;
}

}  // namespace

void add_export(Command app, Action& chosen) {
  Command command =
      app.subcommand("export", "Write the recycled states of a run for other programs");
  const auto options = std::make_shared<ExportOptions>();
  command.option("RUN", options->run, "the folder of the run").required();
  command
      .option("--recycled", options->form,
              "csv: recycled-N.csv; arrow: recycled.arrow; netcdf: posterior.nc with all functions "
              "of the state in its "
              "group recycled_posterior")
      .required()
      .type_name("FORMAT")
      .words({"csv", "arrow", "netcdf"});
  command.flag(
      "--calibrated", options->calibrated,
      "csv: with the column calibrated_log_weight__: weights of the states of the whole run "
      "that sharpen whatever is computed with them");
  command.option("--output,-o", options->output, "new folder for the files")
      .required()
      .type_name("DIR");
  add_trusted_code(command, options->trusted);
  command.when_chosen(
      [&chosen, options] { chosen = [options] { return export_recycled(*options); }; });
}

}  // namespace rehmc::cli
