// Draws figures and page from the tables in a folder, by the Python program of experiments/draw.
#pragma once

#include <filesystem>
#include <string>

namespace rehmc::cli {

/// How it ended: exit code 0, and no message, if figures and page were drawn.
struct Drawing {
  int exit_code = 0;
  std::string message;
  bool lacks_packages = false;  ///< no Python with the packages for drawing was found
};
Drawing draw_results(const std::filesystem::path& folder);

}  // namespace rehmc::cli
