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
std::string as_option(const std::string& message) {
  constexpr std::string_view start = "setting ";
  if (!message.starts_with(start)) return message;
  const std::size_t end = message.find(':');
  std::string name = message.substr(start.size(), end - start.size());
  std::replace(name.begin(), name.end(), '_', '-');
  return fmt::format("--{}{}", name, message.substr(end));
}

}  // namespace

int print_error(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) {
    tell("rehmc: {}\n", as_option(ours->what()));
    return static_cast<int>(ours->code());
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    // Formatting allocates.
    write_controls("rehmc: out of memory\n");
    return static_cast<int>(ExitCode::system);
  }
  tell("rehmc: {}\n", error.what());
  const bool of_files = dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr;
  return static_cast<int>(of_files ? ExitCode::input_output : ExitCode::software);
}

}  // namespace rehmc::cli
