// Parameters gathered into arrays by their Stan names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rehmc {

/// A variable and the columns that hold its elements, last index fastest; a scalar has no shape.
struct VariableGrid {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<std::size_t> columns;
};

/// theta.1, theta.2, ... become one variable if their indices form a full grid, scalars otherwise.
std::vector<VariableGrid> variable_grids(const std::vector<std::string>& names);

}  // namespace rehmc
