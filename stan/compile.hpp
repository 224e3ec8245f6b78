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

/// Has the header that all programs share compiled once, into the cache, for the flags of these
/// options: programs then compile in half the time. It takes some 800 MB. ConfigError if the C++
/// compiler is not g++.
void precompile_header(const CompileOptions& options);

/// The folder of that header; empty if there is none for these options.
std::filesystem::path precompiled_header(const CompileOptions& options);

/// What the library depends on beside the program.
std::string compiler_identity(const CompileOptions& options);

}  // namespace rehmc::stan
