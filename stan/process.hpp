// Runs other programs, such as pip and the C++ compiler, and captures their output.
#pragma once

#include <string>
#include <vector>

namespace rehmc::stan {

struct ProgramResult {
  int code = 0;        ///< its exit code; 128 + the signal that ended it
  std::string output;  ///< standard output and standard error
};

/// Runs a program, found as a shell finds it, to its end, with no input. NoInputError if there is
/// no such program.
ProgramResult run_program(const std::vector<std::string>& words);

/// Where a shell would find it; empty if nowhere.
std::string find_program(const std::string& name);

}  // namespace rehmc::stan
