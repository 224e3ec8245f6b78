// Errors that end a program: one line on stderr, and the exit code.
#pragma once

#include <exception>
#include <string>
#include <vector>

namespace rehmc::cli {

/// The message for users: without the words of the libraries that made it.
std::string plain_message(std::string message);

/// Prints the message and returns the exit code. A setting that the library names is shown as the
/// option of the command line, if it is one of these.
int print_error(const std::exception& error, const std::vector<std::string>& options);

}  // namespace rehmc::cli
