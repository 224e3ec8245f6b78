// Errors that end a program: one line on stderr, and the exit code.
#pragma once

#include <exception>

namespace rehmc::cli {

/// Prints the message and returns the exit code. A setting that the library names is shown as the
/// option of the command line.
int print_error(const std::exception& error);

}  // namespace rehmc::cli
