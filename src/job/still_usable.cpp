// Finds the other file that holds a chain's draws.
#include "still_usable.hpp"

#include <fmt/format.h>

#include <system_error>

#include "rehmc/core/shell_word.hpp"

namespace rehmc {

std::string still_usable(const RunFolder& folder, std::size_t chain,
                         const std::filesystem::path& damaged) {
  std::error_code error;
  const auto there = [&](const std::filesystem::path& path) {
    return path != damaged && std::filesystem::exists(path, error);
  };
  const bool of_results = damaged == folder.draws(chain) || damaged == folder.recycled(chain);
  if (of_results && there(folder.states(chain))) {
    return fmt::format(
        "; {} has the same draws: rehmc summary {}, and rehmc report, can still "
        "read them",
        folder.states(chain).string(), shell_word(folder.path().string()));
  }
  if (!of_results && there(folder.draws(chain))) {
    return fmt::format("; {} has the draws: rehmc summary {} can still read them",
                       folder.draws(chain).string(), shell_word(folder.draws(chain).string()));
  }
  return "";
}

}  // namespace rehmc
