// Runs a job with a display, and says at its end what came out: for sample, resume and extend.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "rehmc/model/log_density.hpp"
#include "rehmc/run/manifest.hpp"

namespace rehmc::cli {

/// How a run is shown; the same for every command that samples.
struct ShowOptions {
  std::string progress = "auto";
  bool quiet = false;
  bool strict = false;
  bool all = false;
};
void add_show_options(CLI::App& command, ShowOptions& options);

/// Samples what the manifest asks for and the folder does not hold yet, prints the summary, and
/// returns the exit code.
int run_job(const Density& density, const Manifest& manifest, const RunFolder& folder,
            const ShowOptions& options);

/// The model that a manifest names, with the data that the folder holds. DataError if it is not the
/// model that was sampled.
Density stored_model(const Manifest& manifest, const RunFolder& folder);

}  // namespace rehmc::cli
