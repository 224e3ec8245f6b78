// The folder in which Stan's toolchains and compiled programs are kept, safe against crashes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace rehmc::stan {

/// $XDG_CACHE_HOME/rehmc/stan, or ~/.cache/rehmc/stan. ConfigError if neither variable is set.
std::filesystem::path cache_folder();

/// Makes the folder `target`, under its own name only when `fill` has filled it: never half of it.
/// Processes that make the same one wait for each other; the later ones find it there and do
/// nothing, unless `replace`. CreateError or FileError if the place cannot be written.
void make_cached(const std::filesystem::path& target,
                 const std::function<void(const std::filesystem::path& folder)>& fill,
                 bool replace = false);

}  // namespace rehmc::stan
