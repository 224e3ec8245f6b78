// Reading whole files, with errors that name the file and the cause.
#pragma once

#include <string>

namespace rehmc {

/// The whole file. NoInputError if it is not there, is a folder, or cannot be read.
std::string read_text_file(const std::string& path);

}  // namespace rehmc
