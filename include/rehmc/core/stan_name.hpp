// Names of parameters as Stan's users write them, and patterns that match them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rehmc {

/// A name of CmdStan's CSV files as Stan programs write it: theta.1.2 is theta[1,2], and the first
/// part of the second tuple of an array, t.2:1, is t[2].1.
std::string stan_name(std::string_view csv_name);

/// The variable that a name of a CSV file belongs to: theta of theta.1.2, t of t.2:1.
std::string csv_variable(std::string_view csv_name);

/// The name without its indices: theta of theta[1,2].
std::string_view variable_of(std::string_view stan_name);

/// Whether a pattern with `*` and `?`, as in a shell, matches this name of a CSV file. It may be
/// written either way, theta.1 or theta[1]; the name of a vector stands for all its elements.
bool matches_name(const std::string& pattern, const std::string& csv_name);

/// Marks the names of CSV files that match any of the patterns. ConfigError, which begins with
/// `where`, for a pattern that matches none.
std::vector<bool> matched_names(const std::vector<std::string>& patterns,
                                const std::vector<std::string>& csv_names, std::string_view where);

}  // namespace rehmc
