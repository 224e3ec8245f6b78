// Fuzzes the reader of checkpoints.
//
// After checksum and origin: an attacker computes these.
#include <fstream>
#include <string>

#include "folder.hpp"
#include "reader.hpp"
#include "rehmc/core/archive.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/output/checkpoint.hpp"

namespace {

/// Loads a run whose only checkpoint has this content after its origin.
void load(std::string_view bytes, bool store_draws) {
  rehmc::Manifest manifest;
  manifest.quantities = {{"x"}, {"y"}};
  manifest.coordinates = {"x", "y"};
  manifest.settings.sample.chains = 1;
  manifest.settings.store_draws = store_draws;
  const rehmc::RunFolder& run = rehmc::fuzz::run_folder();
  rehmc::ArchiveWriter origin;
  origin(rehmc::essence(manifest) + " chain 1");
  std::ofstream(run.states(0)).close();
  // Without waiting for the disk, as write_checkpoint() would.
  rehmc::ArchiveWriter file;
  const std::string content = origin.bytes() + std::string(bytes);
  file(static_cast<std::uint64_t>(content.size()), rehmc::content_hash(content));
  std::ofstream(run.checkpoint(0), std::ios::binary) << "rehmc checkpoint 3\n"
                                                     << file.bytes() << content;
  rehmc::load_run(run, manifest);
}

}  // namespace

REHMC_FUZZ(checkpoint) {
  try {
    load(bytes, true);
  } catch (const rehmc::Error&) {
    load(bytes, false);
  }
}
