// The known name that a mistyped one most likely meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rehmc {

/// The known name nearest to the word by edit distance (insert, delete, replace, or swap two
/// neighbours), ignoring case and treating '-' and '_' as equal; or the only one that begins with
/// the word. Empty if no name is near.
std::string nearest_name(std::string_view word, std::span<const std::string> known);

/// "; did you mean 'name'?" for the nearest name; empty if there is none.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace rehmc
