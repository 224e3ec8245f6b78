// A hash of contents, which identifies models and files.
#pragma once

#include <string>
#include <string_view>

namespace rehmc {

/// XXH3 with 128 bits, as 32 hexadecimal digits: the same on every machine. Not cryptographic.
std::string content_hash(std::string_view bytes);

}  // namespace rehmc
