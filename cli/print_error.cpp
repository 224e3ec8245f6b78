// Prints errors.
#include "print_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include "print.hpp"
#include "rehmc/core/error.hpp"

namespace rehmc::cli {

namespace {

/// The library calls settings by their names in code; the command line writes them as options.
std::string as_option(const std::string& message, const std::vector<std::string>& options) {
  constexpr std::string_view start = "setting ";
  const bool setting = message.starts_with(start);
  const std::size_t begin = setting ? start.size() : 0;
  const std::size_t end = message.find(':');
  if (end == std::string::npos) return message;
  std::string name = message.substr(begin, end - begin);
  std::replace(name.begin(), name.end(), '_', '-');
  if (std::find(options.begin(), options.end(), "--" + name) != options.end()) name = "--" + name;
  return setting || name.starts_with("--") ? name + message.substr(end) : message;
}

}  // namespace

std::string plain_message(std::string message) {
  constexpr std::string_view mark = "[json.exception.";
  for (std::size_t at = message.find(mark); at != std::string::npos; at = message.find(mark, at)) {
    const std::size_t end = message.find("] ", at);
    message.erase(at, end == std::string::npos ? mark.size() : end + 2 - at);
  }
  return message;
}

int print_error(const std::exception& error, const std::vector<std::string>& options) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) {
    tell("rehmc: {}\n", as_option(plain_message(ours->what()), options));
    return static_cast<int>(ours->code());
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    // Formatting allocates.
    write_controls("rehmc: out of memory\n");
    return static_cast<int>(ExitCode::system);
  }
  if (const auto* of_files = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    const std::string path = of_files->path1().string();
    tell("rehmc: {}cannot be used: {}\n", path.empty() ? "a file " : path + ": ",
         of_files->code().message());
    return static_cast<int>(ExitCode::input_output);
  }
  tell("rehmc: {}\n", plain_message(error.what()));
  return static_cast<int>(ExitCode::software);
}

}  // namespace rehmc::cli
