// The manifest of a run folder: what was run, so that it can be run again, resumed and read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rehmc/job/run_settings.hpp"
#include "rehmc/output/run_folder.hpp"

namespace rehmc {

/// The name of a model, and a hash of everything it is made of (including its data).
struct ModelIdentity {
  std::string name;
  std::string hash;
  /// How to make it again if it is not built in, in terms that its maker understands.
  std::map<std::string, std::string> made_by{};
};

struct Manifest {
  std::string version;  ///< of rehmc
  std::string created;  ///< UTC, as in 2026-01-31 12:00:00 UTC
  ModelIdentity model;
  std::vector<Quantity> quantities;      ///< what users read of a state
  std::vector<std::string> coordinates;  ///< names of the coordinates of states
  std::uint64_t seed = 0;                ///< the one that was used, given or not
  RunSettings settings;
  /// content_hash() of the files that the run needs again, by name: program and data.
  std::map<std::string, std::string> files{};
  /// The model and the files as the user named them, in words of the command line. They are shown,
  /// never opened.
  std::vector<std::string> given{};
};

/// A hash of all that checkpoints depend on: everything but the number of draws, `until` and the
/// number of threads, which may change when a run is continued.
std::string essence(const Manifest& manifest);

/// The version of this library.
std::string version();
/// The current time, in the manifest's format.
std::string utc_now();

void write_manifest(const RunFolder& folder, const Manifest& manifest);
/// DataError, or NoInputError, if this is not a run folder, not one that this version understands,
/// or if the manifest was changed after it was written.
Manifest read_manifest(const RunFolder& folder);

}  // namespace rehmc
