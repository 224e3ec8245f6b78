// Chooses the rows of the summary's table.
#include "shown_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/stan_name.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc::cli {

namespace {

constexpr std::size_t most_rows = 30;

using Rows = std::vector<const ParameterSummary*>;

/// Worse ones first: unknown, then small ESS or large R-hat.
double badness(const ParameterSummary& row, RowOrder order) {
  const Convergence& convergence = row.convergence;
  const double value = order == RowOrder::rhat
                           ? convergence.rhat
                           : -std::min(convergence.ess_bulk, convergence.ess_tail);
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

/// Whether a comes before b, with numbers inside names in the order of their values.
bool name_before(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&](std::string_view text, std::size_t& at) {
      const std::size_t begin = at;
      while (at < text.size() && digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string_view first = number(a, i);
    const std::string_view second = number(b, j);
    if (first.size() != second.size()) return first.size() < second.size();
    if (first != second) return first < second;
  }
  return a.size() - i < b.size() - j;
}

void sort_rows(Rows& rows, RowOrder order) {
  if (order == RowOrder::declared) return;
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    if (order == RowOrder::name) return name_before(a->name, b->name);
    return badness(*a, order) > badness(*b, order);
  });
}

/// Runs of rows that belong to one variable.
std::vector<Rows> by_variable(const Rows& rows) {
  std::vector<Rows> variables;
  for (const ParameterSummary* row : rows) {
    if (variables.empty() ||
        variable_of(variables.back().front()->name) != variable_of(row->name)) {
      variables.emplace_back();
    }
    variables.back().push_back(row);
  }
  return variables;
}

/// A line that says how many are left out takes the place of one row.
std::size_t rows_kept(std::size_t size, std::size_t most) { return size <= most + 1 ? size : most; }

/// As many rows of each vector as fit, so that what is declared after a long one is seen as well.
std::vector<ShownRow> shortened(const Rows& rows) {
  const std::vector<Rows> variables = by_variable(rows);
  std::size_t most = 1;
  for (const std::size_t each : {20, 15, 10, 8, 6, 5, 4, 3, 2}) {
    std::size_t lines = 0;
    for (const Rows& variable : variables) {
      const std::size_t kept = rows_kept(variable.size(), each);
      lines += kept + (kept < variable.size() ? 1 : 0);
    }
    if (lines > most_rows) continue;
    most = each;
    break;
  }
  std::vector<ShownRow> shown;
  for (const Rows& variable : variables) {
    const std::size_t kept = rows_kept(variable.size(), most);
    for (std::size_t i = 0; i < kept; ++i) shown.push_back({variable[i]});
    if (kept == variable.size()) continue;
    shown.push_back({nullptr, fmt::format("... {} more, to {}", variable.size() - kept,
                                          variable.back()->name)});
  }
  if (shown.size() > most_rows) shown.resize(most_rows);
  return shown;
}

std::vector<ShownRow> first_rows(const Rows& rows) {
  std::vector<ShownRow> shown;
  for (std::size_t i = 0; i < std::min(most_rows, rows.size()); ++i) shown.push_back({rows[i]});
  return shown;
}

std::vector<ShownRow> all_rows(const Rows& rows) {
  std::vector<ShownRow> shown;
  for (const ParameterSummary* row : rows) shown.push_back({row});
  return shown;
}

/// The rows of a table that shows only parameters, and what it leaves out.
ShownRows usual_rows(const std::vector<ParameterSummary>& parameters, RowOrder order) {
  ShownRows result;
  Rows wanted;
  for (const bool generated : {false, true}) {
    for (const ParameterSummary& row : parameters) {
      if (row.generated == generated && !is_constant(row)) wanted.push_back(&row);
    }
    if (!wanted.empty()) break;
  }
  const bool generated_shown = !wanted.empty() && wanted.front()->generated;
  for (const ParameterSummary& row : parameters) {
    if (is_constant(row)) {
      ++result.constants;
    } else if (row.generated && !generated_shown) {
      ++result.generated;
      const std::string variable(variable_of(row.name));
      auto& names = result.generated_names;
      if (names.empty() || names.back() != variable) names.push_back(variable);
    }
  }
  sort_rows(wanted, order);
  result.rows = wanted.size() <= most_rows    ? all_rows(wanted)
                : order == RowOrder::declared ? shortened(wanted)
                                              : first_rows(wanted);
  const auto shown = static_cast<std::size_t>(std::count_if(
      result.rows.begin(), result.rows.end(), [](const ShownRow& each) { return each.row; }));
  result.others = wanted.size() - shown;
  return result;
}

}  // namespace

bool is_constant(const ParameterSummary& row) {
  // The diagonal of a correlation matrix is 1, but for rounding.
  constexpr double rounding = 1e-14;
  return row.convergence.check.condition == DrawsCondition::constant ||
         row.plain.sd <= rounding * std::abs(row.plain.mean);
}

RowOrder parse_row_order(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, RowOrder>, 4> orders{
      {{"declared", RowOrder::declared},
       {"ess", RowOrder::ess},
       {"rhat", RowOrder::rhat},
       {"name", RowOrder::name}}};
  std::vector<std::string> names;
  for (const auto& [text, order] : orders) {
    if (text == name) return order;
    names.emplace_back(text);
  }
  throw ConfigError(fmt::format("--sort: found '{}', expected declared, ess, rhat or name{}", name,
                                did_you_mean(name, names)));
}

ShownRows shown_rows(const std::vector<ParameterSummary>& parameters, const RowChoice& choice) {
  if (!choice.all && !choice.chosen) return usual_rows(parameters, choice.order);
  Rows rows;
  for (const ParameterSummary& row : parameters) rows.push_back(&row);
  sort_rows(rows, choice.order);
  std::stable_partition(rows.begin(), rows.end(),
                        [](const ParameterSummary* row) { return !is_constant(*row); });
  ShownRows result;
  result.rows = all_rows(rows);
  return result;
}

}  // namespace rehmc::cli
