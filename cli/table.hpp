// The summary of a run as text for people.
#pragma once

#include <string>
#include <vector>

#include "rehmc/summary/run_summary.hpp"
#include "shown_rows.hpp"

namespace rehmc::cli {

/// A column of numbers, one per parameter of the summary.
struct ExtraColumn {
  std::string head;
  std::vector<double> values;
};

struct TableOptions {
  RowChoice rows;
  std::string command;               ///< that shows other rows, with a pattern or --all
  std::vector<ExtraColumn> extra{};  ///< instead of the usual quantiles
};

/// The table, with lines that explain it.
std::string summary_table(const RunSummary& summary, const TableOptions& options);
/// The same numbers as comma-separated values, all rows.
std::string summary_csv(const RunSummary& summary);
/// The warnings, one paragraph each, or a line that says there are none.
std::string warnings_text(const Diagnostics& diagnostics);

/// A count with separators: 1,234,567.
std::string grouped(std::uint64_t count);
/// A number in few digits, as in 1.20, 45.6, 0.00123, 1.2e+06.
std::string brief(double value, int digits = 3);

}  // namespace rehmc::cli
