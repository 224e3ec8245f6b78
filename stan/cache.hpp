// The folder of Stan's toolchains and compiled programs, safe against crashes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace rehmc::stan {

/// A shared library in a folder of its own.
inline constexpr const char* library_name = "model.so";

/// $XDG_CACHE_HOME/rehmc/stan, or ~/.cache/rehmc/stan. ConfigError if neither variable is set.
std::filesystem::path cache_folder();

/// Makes the folder `target`, unless it is there and `is_whole`. It gets its name only after `fill`
/// has filled it, so it is never incomplete. Processes that make the same folder wait for each
/// other. CreateError or FileError if it cannot be written.
void make_cached(const std::filesystem::path& target,
                 const std::function<bool(const std::filesystem::path& folder)>& is_whole,
                 const std::function<void(const std::filesystem::path& folder)>& fill);

}  // namespace rehmc::stan
