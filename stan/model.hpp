// Models in files: Stan programs, interpreted or compiled, and shared libraries.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "rehmc/model/bridge.hpp"
#include "stan/compile.hpp"

namespace rehmc::stan {

/// How a Stan program is run; `automatic` interprets it if possible, and compiles it otherwise.
enum class Backend { automatic, interpret, compile };
/// "auto", "interpret" or "compile".
Backend parse_backend(const std::string& name);
std::string_view describe(Backend backend);

struct ModelOptions {
  Backend backend = Backend::automatic;
  std::vector<std::string> include_paths;
  CompileOptions compile;
  std::uint32_t seed = 0;  ///< of random numbers in transformed data
  std::string name;        ///< of the model, if not that of its file
  bool stored = false;     ///< the program is that of a run folder: nothing that it names is read
  /// Receives the identity of the model, if it is known, before anything of the model is loaded,
  /// compiled or run; it throws if that must not happen.
  std::function<void(const std::string& identity)> approve = [](const std::string&) {};
  /// Receives notes about what takes time and what was decided.
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

struct FileModel {
  BridgeDensity density;
  std::string name;
  std::string identity;                  ///< a hash of program, data and toolchain
  std::string program;                   ///< the whole text of a Stan program; empty for a library
  Backend backend = Backend::automatic;  ///< the one that was used
};

/// Whether a model's name is a file name: NAME.stan or NAME.so.
bool is_model_file(const std::string& name);

/// Opens the model in a file. `data` is JSON text, empty if there is none, and `data_file` names
/// its file in messages. Throws as interpret(), compile() and BridgeDensity do, with the names of
/// the files; ModelError for a program without parameters, and for a gradient of the interpreter
/// that finite differences contradict.
FileModel make_file_model(const std::filesystem::path& file, const std::string& data,
                          const std::string& data_file, const ModelOptions& options);

}  // namespace rehmc::stan
