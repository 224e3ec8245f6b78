// Parses indices in Stan names and finds full grids.
#include "rehmc/output/variable_grids.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

namespace rehmc {

namespace {

using Index = std::vector<std::size_t>;

/// The indices after the base name, counted from 1; none for a scalar or an unusual name.
Index indices_of(std::string_view name) {
  Index index;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = name.find('.', dot + 1);
    const std::string_view text = name.substr(dot + 1, next - dot - 1);
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value == 0) return {};
    index.push_back(value);
    dot = next;
  }
  return index;
}

struct Element {
  Index index;
  std::size_t column;
};

/// Puts the elements into `grid`; if they do not form a full grid, returns false and changes
/// nothing.
bool form_grid(const std::vector<Element>& elements, VariableGrid& grid) {
  const std::size_t rank = elements.front().index.size();
  Index shape(rank, 0);
  for (const Element& element : elements) {
    if (element.index.size() != rank) return false;
    for (std::size_t k = 0; k < rank; ++k) shape[k] = std::max(shape[k], element.index[k]);
  }
  std::size_t size = 1;
  for (const std::size_t extent : shape) {
    if (extent > elements.size() / size) return false;
    size *= extent;
  }
  if (size != elements.size()) return false;
  constexpr auto nobody = static_cast<std::size_t>(-1);
  std::vector<std::size_t> columns(size, nobody);
  for (const Element& element : elements) {
    std::size_t place = 0;
    for (std::size_t k = 0; k < rank; ++k) place = place * shape[k] + element.index[k] - 1;
    if (columns[place] != nobody) return false;
    columns[place] = element.column;
  }
  grid.shape = std::move(shape);
  grid.columns = std::move(columns);
  return true;
}

}  // namespace

std::vector<VariableGrid> variable_grids(const std::vector<std::string>& names) {
  std::map<std::string, std::vector<Element>> families;
  std::vector<std::string> order;
  for (std::size_t column = 0; column < names.size(); ++column) {
    Index index = indices_of(names[column]);
    const std::string base =
        index.empty() ? names[column] : names[column].substr(0, names[column].find('.'));
    auto& family = families[base];
    if (family.empty()) order.push_back(base);
    family.push_back({std::move(index), column});
  }
  std::vector<VariableGrid> grids;
  for (const std::string& base : order) {
    const std::vector<Element>& elements = families[base];
    VariableGrid grid{.name = base, .shape = {}, .columns = {}};
    if (form_grid(elements, grid)) {
      grids.push_back(std::move(grid));
      continue;
    }
    for (const Element& element : elements) {
      grids.push_back({.name = names[element.column], .shape = {}, .columns = {element.column}});
    }
  }
  return grids;
}

}  // namespace rehmc
