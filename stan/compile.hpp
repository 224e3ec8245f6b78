// Stan programs compiled into shared libraries, cached so that each is compiled once.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "stan/program.hpp"

namespace rehmc::stan {

struct CompileOptions {
  bool native = false;            ///< for this machine only, as fast as possible
  std::filesystem::path cmdstan;  ///< take stanc, headers and libraries from there
};

/// A library with BridgeStan's C functions, in the cache. `note` is called before a compilation
/// starts. DataError with stanc's message if the program is wrong; ConfigError if there is no
/// compiler; ModelError with the compiler's message if it fails.
std::filesystem::path compile(const Program& program, const CompileOptions& options,
                              const std::function<void(const std::string&)>& note);

/// Compiles the header that all programs share once, into the cache, for the flags of these
/// options: programs then compile in half the time. It takes about 800 MB. ConfigError if the C++
/// compiler is not g++.
void precompile_header(const CompileOptions& options);

/// The folder of that header; empty if there is none for these options.
std::filesystem::path precompiled_header(const CompileOptions& options);

/// What the library depends on besides the program.
std::string compiler_identity(const CompileOptions& options);

}  // namespace rehmc::stan
