// The model that a command line or a run folder names: built in, a Stan program, or a library.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "rehmc/job/manifest.hpp"
#include "rehmc/model/bridge.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc::cli {

/// The options that choose a model; the same for every command that takes one.
struct ModelChoice {
  std::string model;
  std::string data;
  std::string backend = "auto";
  std::vector<std::string> include_paths;
  std::string cmdstan;
  bool quiet = false;
};
void add_model_options(Command command, ModelChoice& choice);

struct OpenedModel {
  Density density;
  ModelIdentity identity;
  std::string data;                     ///< the text of the data file; empty without one
  std::string program;                  ///< the whole text of a Stan program
  std::optional<BridgeDensity> bridge;  ///< the same model, if it comes from a file
  std::string library{};                ///< the shared library that it is, if it is one
};

/// The seed is for random numbers in transformed data.
OpenedModel open_model(const ModelChoice& choice, std::uint64_t seed);

/// Stores in the folder what stored_model() needs besides the manifest. A library is not stored
/// there, since nobody should run code that came with a folder, but in the user's cache.
void store_model(const OpenedModel& model, const RunFolder& folder);

/// The files that store_model() writes, and their content_hash().
std::map<std::string, std::string> stored_files(const OpenedModel& model, const RunFolder& folder);

/// Code that the user trusts to continue a run; a folder cannot name any.
struct TrustedCode {
  std::string library;  ///< the shared library that was sampled, if the cache has no copy of it
  std::string cmdstan;  ///< the CmdStan folder that compiles the program
};
void add_trusted_code(Command command, TrustedCode& code);

/// The model that a manifest names, with the data in the folder. DataError if it is not the
/// model that was sampled; nothing of it is loaded or run before that is known.
OpenedModel stored_model(const Manifest& manifest, const RunFolder& folder,
                         const TrustedCode& trusted);

}  // namespace rehmc::cli
