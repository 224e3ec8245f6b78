// Runs a job with a progress display and prints its summary: for sample, resume and extend.
#pragma once

#include <string>

#include "command_line.hpp"
#include "open_model.hpp"
#include "rehmc/job/manifest.hpp"

namespace rehmc::cli {

/// How a run is shown; the same for every command that samples.
struct ShowOptions {
  std::string progress = "auto";
  bool quiet = false;
  bool strict = false;
  bool all = false;
  bool verbose = false;
};
void add_show_options(Command command, ShowOptions& options);

/// Takes the draws that the manifest requires and the folder does not have yet, prints the summary,
/// and returns the exit code.
int run_job(const OpenedModel& model, const Manifest& manifest, const RunFolder& folder,
            const ShowOptions& options);

}  // namespace rehmc::cli
