// A hash of contents, by which models and files are told apart.
#pragma once

#include <string>
#include <string_view>

namespace rehmc {

/// XXH3 with 128 bits, as 32 hexadecimal digits: the same on every machine. Not cryptographic.
std::string content_hash(std::string_view bytes);

}  // namespace rehmc
