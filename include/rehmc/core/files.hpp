// Reading whole files, with errors that name the file and the cause.
#pragma once

#include <filesystem>
#include <string>

namespace rehmc {

/// The whole file. NoInputError if it does not exist, is a folder, or cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace rehmc
