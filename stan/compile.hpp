// Stan programs compiled into shared libraries, kept so that each is compiled once.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "stan/program.hpp"

namespace rehmc::stan {

struct CompileOptions {
  bool native = false;            ///< for this machine alone, and as fast as the compiler can
  std::filesystem::path cmdstan;  ///< take stanc, headers and libraries from there
};

/// A library with BridgeStan's C functions, in the cache. `note` is told before a compile begins.
/// DataError with stanc's message if the program is wrong; ConfigError if there is no compiler;
/// ModelError with the compiler's words if it fails.
std::filesystem::path compile(const Program& program, const CompileOptions& options,
                              const std::function<void(const std::string&)>& note);

/// What the library depends on beside the program.
std::string compiler_identity(const CompileOptions& options);

}  // namespace rehmc::stan
