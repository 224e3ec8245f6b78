// What can still be used of a run when one of its files is damaged.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "rehmc/output/run_folder.hpp"

namespace rehmc {

/// The end of a message about a damaged file of a chain: which other file has the draws, and which
/// command reads it; empty if there is none.
std::string still_usable(const RunFolder& folder, std::size_t chain,
                         const std::filesystem::path& damaged);

}  // namespace rehmc
