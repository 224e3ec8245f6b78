// Finds a Python with matplotlib and Jinja2 and runs the drawing program with it.
#include "cli/paper/draw.hpp"

#include <fmt/format.h>

#include "rehmc/core/error.hpp"
#include "stan/process.hpp"

namespace rehmc::cli {

namespace fs = std::filesystem;

namespace {

constexpr int unavailable = 69;  // BSD's EX_UNAVAILABLE

/// Installed next to this program's folder, else where this program was built from.
fs::path drawing_program() {
  const fs::path installed =
      fs::read_symlink("/proc/self/exe").parent_path() / REHMC_DRAW_INSTALLED;
  if (fs::exists(installed)) return installed.lexically_normal();
  return REHMC_DRAW_SOURCE;
}

/// The system's Python comes first: its packages are those that install_dependencies installs,
/// whatever other Python the user has on the PATH.
std::string find_python() {
  for (const char* const python : {"/usr/bin/python3", "python3"}) {
    if (stan::find_program(python).empty()) continue;
    if (stan::run_program({python, "-c", "import jinja2, matplotlib"}, "/").code == 0)
      return python;
  }
  return "";
}

}  // namespace

Drawing draw_results(const fs::path& folder) {
  const fs::path program = drawing_program();
  if (!fs::exists(program)) {
    return {unavailable, fmt::format("the drawing program {} is missing", program.string())};
  }
  const std::string python = find_python();
  if (python.empty()) {
    return {unavailable,
            fmt::format("no figures and no page: python3 has no matplotlib or no jinja2. Install "
                        "the Debian packages python3-matplotlib and python3-jinja2, then run\n"
                        "    rehmc-paper --draw-only --output {}",
                        folder.string()),
            true};
  }
  const auto [code, output] = stan::run_program({python, program.string(), folder.string()});
  return {code, output};
}

}  // namespace rehmc::cli
