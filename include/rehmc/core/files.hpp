// Reading files, with errors that name the file and the cause.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace rehmc {

/// The whole file. NoInputError if it does not exist, is a folder, or cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Passes the file on in pieces. NoInputError as above.
void read_pieces(const std::filesystem::path& path,
                 const std::function<void(std::string_view piece)>& take);

}  // namespace rehmc
