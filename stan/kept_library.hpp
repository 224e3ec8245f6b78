// Copies of the shared libraries that the user has sampled, so that their runs can be resumed.
#pragma once

#include <filesystem>
#include <string>

namespace rehmc::stan {

/// Copies a library into the cache, unless it is there. CreateError or FileError if that fails.
void keep_library(const std::filesystem::path& library);

/// The copy of the library whose content has this hash; empty if there is none. A copy that was
/// changed counts as none.
std::filesystem::path kept_library(const std::string& hash);

/// Whether this is what content_hash() returns, and so can be a part of a path.
bool is_hash(const std::string& text);

}  // namespace rehmc::stan
