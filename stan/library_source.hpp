// The text of stan/library/bridge_library.cpp, which the build embeds in the command.
#pragma once

#include <string_view>

namespace rehmc::library_source {

extern const std::string_view bridge_library_cpp;

}  // namespace rehmc::library_source
