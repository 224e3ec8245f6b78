// Text for shells and terminals: words of commands, and control characters made visible.
#pragma once

#include <string>
#include <string_view>

namespace rehmc {

/// The text as one word of a shell command: in quotes if it needs them.
std::string shell_word(std::string_view text);

/// The text with control characters (other than line breaks and tabs) and bytes that are not UTF-8
/// shown as \u001b and \x9b, so that it cannot command a terminal.
std::string visible(std::string_view text);

}  // namespace rehmc
