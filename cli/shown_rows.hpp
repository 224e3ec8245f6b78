// The rows of the summary's table: which parameters it shows, and in what order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rehmc/summary/summary.hpp"

namespace rehmc::cli {

enum class RowOrder { declared, ess, rhat, name };
/// "declared", "ess", "rhat" or "name".
RowOrder parse_row_order(std::string_view name);

/// A row, or, where rows of a long vector are left out, a line about them.
struct ShownRow {
  const ParameterSummary* row = nullptr;
  std::string left_out{};
};

struct RowChoice {
  bool all = false;     ///< every parameter, generated quantities and constants too
  bool chosen = false;  ///< the user chose the parameters: show them all
  RowOrder order = RowOrder::declared;
};

struct ShownRows {
  std::vector<ShownRow> rows;
  std::size_t generated = 0;                 ///< how many generated quantities are not shown
  std::vector<std::string> generated_names;  ///< their variables
  std::size_t constants = 0;                 ///< how many constants are not shown
  std::size_t others = 0;                    ///< how many other parameters are not shown
};

/// Parameters as they were declared, with long vectors shortened until the table fits a screen.
/// Constants come last; these and generated quantities are only shown if they were asked for.
ShownRows shown_rows(const std::vector<ParameterSummary>& parameters, const RowChoice& choice);

bool is_constant(const ParameterSummary& row);

}  // namespace rehmc::cli
