// The known name that a mistyped one most likely meant.
#include "rehmc/core/suggest.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

namespace rehmc {
namespace {

std::string folded(std::string_view word) {
  std::string result;
  for (const char c : word) {
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    result.push_back(lower == '_' ? '-' : lower);
  }
  return result;
}

/// The restricted Damerau-Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t columns = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * columns);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return table[i * columns + j];
  };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

}  // namespace

std::string nearest_name(std::string_view word, std::span<const std::string> known) {
  // A word much longer than any name is not a typing error, and its table would be large.
  constexpr std::size_t longest = 100;
  if (word.empty() || word.size() > longest) return "";
  const std::string wanted = folded(word);
  std::string nearest;
  // Up to a third of the letters may be wrong, and one of a short word.
  std::size_t least = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(wanted, folded(name));
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  if (!nearest.empty()) return nearest;
  const auto longer = std::find_if(known.begin(), known.end(), [&](const std::string& name) {
    return folded(name).starts_with(wanted);
  });
  return longer == known.end() ? "" : *longer;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::string name = nearest_name(word, known);
  return name.empty() ? "" : "; did you mean '" + name + "'?";
}

}  // namespace rehmc
