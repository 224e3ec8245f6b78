// Translates CmdStan's names, which separate indices by dots and parts of tuples by colons.
#include "rehmc/core/stan_name.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc {

namespace {

bool is_index(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// A variable, or a part of a tuple, with its indices.
std::string with_indices(std::string_view text) {
  std::size_t dot = text.find('.');
  std::string name(text.substr(0, dot));
  std::string indices;
  while (dot != std::string_view::npos) {
    const std::size_t next = text.find('.', dot + 1);
    const std::string_view part = text.substr(dot + 1, next - dot - 1);
    dot = next;
    if (is_index(part)) {
      indices += (indices.empty() ? "" : ",") + std::string(part);
      continue;
    }
    // Such as the real part of a complex number.
    if (!indices.empty()) name += "[" + indices + "]";
    indices.clear();
    name += "." + std::string(part);
  }
  return indices.empty() ? name : name + "[" + indices + "]";
}

/// Each variable once, in order.
std::vector<std::string> variables_of(const std::vector<std::string>& csv_names) {
  std::vector<std::string> variables;
  for (const std::string& name : csv_names) {
    std::string variable = csv_variable(name);
    if (variables.empty() || variables.back() != variable) variables.push_back(std::move(variable));
  }
  return variables;
}

std::string first_few(const std::vector<std::string>& names) {
  constexpr std::size_t few = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(few, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > few ? text + ", ..." : text;
}

bool fits(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace

std::string stan_name(std::string_view csv_name) {
  std::string name;
  while (true) {
    const std::size_t colon = csv_name.find(':');
    name += with_indices(csv_name.substr(0, colon));
    if (colon == std::string_view::npos) return name;
    name += ".";
    csv_name.remove_prefix(colon + 1);
  }
}

std::string csv_variable(std::string_view csv_name) {
  return std::string(csv_name.substr(0, csv_name.find_first_of(".:")));
}

std::string_view variable_of(std::string_view stan_name) {
  return stan_name.substr(0, stan_name.find('['));
}

bool matches_name(const std::string& pattern, const std::string& csv_name) {
  if (fits(pattern, csv_name) || fits(pattern + ".*", csv_name) || fits(pattern + ":*", csv_name)) {
    return true;
  }
  // Brackets of Stan's names are no set of characters.
  std::string literal;
  for (const char c : pattern) {
    if (c == '[' || c == ']') literal += '\\';
    literal += c;
  }
  return fits(literal, stan_name(csv_name));
}

std::vector<bool> matched_names(const std::vector<std::string>& patterns,
                                const std::vector<std::string>& csv_names, std::string_view where) {
  std::vector<bool> marks(csv_names.size(), false);
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (std::size_t i = 0; i < csv_names.size(); ++i) {
      if (!matches_name(pattern, csv_names[i])) continue;
      marks[i] = any = true;
    }
    if (any) continue;
    const std::vector<std::string> known = variables_of(csv_names);
    throw ConfigError(fmt::format("{}'{}' matches no parameter; there are {}{}", where, pattern,
                                  first_few(known), did_you_mean(pattern, known)));
  }
  return marks;
}

}  // namespace rehmc
