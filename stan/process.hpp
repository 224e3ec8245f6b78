// Runs other programs, such as pip and the C++ compiler, and captures their output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rehmc::stan {

struct ProgramResult {
  int code = 0;        ///< its exit code; 128 + the signal that ended it
  std::string output;  ///< standard output and standard error
};

/// Runs a program, searched on the PATH, without input, and waits for it. NoInputError if the
/// program does not exist. `folder` is where it runs, if not where this process does: Python, for
/// one, loads modules from there.
ProgramResult run_program(const std::vector<std::string>& words,
                          const std::filesystem::path& folder = {});

/// Ends the program that runs, with all that it has started. For signal handlers.
void end_program() noexcept;

/// The path of a program on the PATH; empty if there is none.
std::string find_program(const std::string& name);

}  // namespace rehmc::stan
