// Checks of the data of a regression that all of them share.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace rehmc {

/// The predictors x, row by row, and the number of responses y. DataError, naming the model, for no
/// rows or columns, inconsistent sizes, or x that is not finite.
void check_design(std::string_view model, std::size_t observations, std::size_t predictors,
                  std::span<const double> x, std::size_t responses);

}  // namespace rehmc
