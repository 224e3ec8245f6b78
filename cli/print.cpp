// Writes to the standard streams, and remembers errors.
#include "print.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "rehmc/core/error.hpp"
#include "rehmc/core/shell_word.hpp"

namespace rehmc::cli {

namespace {

std::atomic<int> output_error = 0;   ///< errno of the first failed write
std::atomic<int> message_error = 0;  ///< likewise

void write(std::FILE* stream, std::string_view text, std::atomic<int>& error) {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() && error == 0) error = errno;
}

}  // namespace

void write_output(std::string_view text) { write(stdout, visible(text), output_error); }

void write_message(std::string_view text) {
  // Results come first where both streams go to the same place.
  if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno;
  write(stderr, visible(text), message_error);
}

void write_controls(std::string_view text) { write(stderr, text, message_error); }

int finish_printing(int code) {
  if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno;
  if (output_error == 0 && std::ferror(stdout) != 0) output_error = EIO;
  if (output_error != 0) {
    tell("rehmc: standard output: cannot write it: {}\n", std::strerror(output_error));
  }
  const bool failed = output_error != 0 || message_error != 0 || std::ferror(stderr) != 0;
  constexpr int with_warnings = 1;
  return failed && (code == 0 || code == with_warnings) ? static_cast<int>(ExitCode::input_output)
                                                        : code;
}

}  // namespace rehmc::cli
