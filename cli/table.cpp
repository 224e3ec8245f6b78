// Formats the summary.
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/quantiles.hpp"
#include "terminal.hpp"

namespace rehmc::cli {

namespace {

/// Precision beyond this is that of rounding, not of sampling.
constexpr double exact_from = 1e6;
constexpr const char* exact_text = ">1e6";

double quantile(const Estimate& estimate, double probability) {
  for (const QuantileEstimate& q : estimate.quantiles) {
    if (q.probability == probability) return q.value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// As many decimals as are meaningful given the error, and one more.
std::string with_error(double value, double mcse) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (!(mcse > 0) || !std::isfinite(mcse)) return brief(value, 4);
  const int decimals = std::clamp(1 - static_cast<int>(std::floor(std::log10(mcse))), 0, 8);
  if (std::abs(value) >= 1e7 || (value != 0 && std::abs(value) < 1e-4)) return brief(value, 4);
  return fmt::format("{:.{}f}", value, std::min(decimals, 6));
}

std::string count_text(double value) {
  if (std::isnan(value)) return "-";
  if (value > exact_from) return exact_text;
  return grouped(static_cast<std::uint64_t>(std::llround(std::max(0.0, value))));
}

/// The best estimate of a parameter.
const Estimate& best(const ParameterSummary& row) {
  if (row.sharpened) return row.sharpened->estimate;
  return row.recycled ? *row.recycled : row.plain;
}

double gain(const Estimate& plain, const Estimate& better) {
  const double ratio = plain.mcse_mean / better.mcse_mean;
  return ratio * ratio;
}

/// Two significant digits: an effective number of draws is not known more precisely.
std::string rounded_count(double count) {
  if (count > exact_from) return "over 1,000,000";
  if (!(count >= 100)) return fmt::format("{:.0f}", count);
  const double unit = std::pow(10, std::floor(std::log10(count)) - 1);
  return grouped(static_cast<std::uint64_t>(std::round(count / unit) * unit));
}

std::string gain_text(double value) {
  if (std::isnan(value)) return "-";
  if (value > exact_from) return exact_text;
  return "x" + (value < 999.5 ? brief(value, value < 10 ? 2 : 3) : rounded_count(value));
}

/// A column: the narrower the terminal, the fewer of the less important ones are shown.
struct Column {
  std::string head;
  int importance = 0;  ///< 0 for what is always shown
  std::vector<std::string> cells{};

  std::size_t width() const {
    std::size_t width = head.size();
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    return width;
  }
};

/// A name in the table: the middle of a very long one is left out.
std::string short_name(const std::string& name) {
  constexpr std::size_t longest = 32;
  constexpr std::size_t end = 12;
  if (name.size() <= longest) return name;
  return name.substr(0, longest - end - 3) + "..." + name.substr(name.size() - end);
}

/// Leaves out columns, the least important first, until the others fit.
std::vector<Column> fitting(std::vector<Column> columns, std::size_t names, std::size_t width) {
  while (true) {
    std::size_t all = names;
    for (const Column& column : columns) all += 2 + column.width();
    const auto last = std::max_element(
        columns.begin(), columns.end(),
        [](const Column& a, const Column& b) { return a.importance < b.importance; });
    if (all <= width || last == columns.end() || last->importance == 0) return columns;
    columns.erase(last);
  }
}

/// Right-aligned columns as wide as they need, names left-aligned.
std::string layout(const std::vector<ShownRow>& rows, std::vector<Column> columns,
                   std::size_t width) {
  const std::string title = "parameter";
  std::size_t names = title.size();
  for (const ShownRow& each : rows) {
    if (each.row != nullptr) names = std::max(names, short_name(each.row->name).size());
  }
  columns = fitting(std::move(columns), names, width);
  const auto line = [&](const std::string& name, const auto& cell) {
    std::string text = fmt::format("{:<{}}", name, names);
    for (const Column& column : columns) {
      text += fmt::format("  {:>{}}", cell(column), column.width());
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(title, [](const Column& column) { return column.head; });
  std::size_t next = 0;
  for (const ShownRow& each : rows) {
    if (each.row == nullptr) {
      text += "  " + each.left_out + "\n";
      continue;
    }
    text +=
        line(short_name(each.row->name), [&](const Column& column) { return column.cells[next]; });
    ++next;
  }
  return text;
}

/// Of the finite values; NaN if there are none.
double finite_median(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  return median(std::move(values));
}

/// Which estimates some parameters of a run have.
struct Kinds {
  bool recycled = false;
  bool sharpened = false;

  bool better() const { return recycled || sharpened; }
};

Kinds kinds_of(const std::vector<ParameterSummary>& rows) {
  const auto has = [&](const auto kind) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const ParameterSummary& row) { return (row.*kind).has_value(); });
  };
  return {.recycled = has(&ParameterSummary::recycled),
          .sharpened = has(&ParameterSummary::sharpened)};
}

/// The estimates, best ones first; then the diagnostics of the plain chain.
std::vector<Column> columns_of(const RunSummary& summary, const Kinds& kinds,
                               const TableOptions& options) {
  std::vector<Column> columns{{"mean", 0}, {"mcse", 4}, {"sd", 0}};
  for (const ExtraColumn& extra : options.extra) columns.push_back({extra.head, 0});
  if (options.extra.empty()) {
    columns.insert(columns.end(), {{"5%", 1}, {"50%", 6}, {"95%", 1}});
  }
  columns.push_back({summary.from_chunks ? "ess_mean" : "ess_bulk", 2});
  if (!summary.from_chunks) columns.push_back({"ess_tail", 7});
  columns.push_back({"rhat", 3});
  if (kinds.better()) {
    columns.insert(columns.end(), {{"gain", 5}, {"ess", 8}, {"plain mean", 10}, {"mcse", 11}});
  }
  return columns;
}

/// The cells of a row, as many as columns_of() has.
std::vector<std::string> cells_of(const ParameterSummary& row, std::size_t parameter,
                                  const RunSummary& summary, const Kinds& kinds,
                                  const TableOptions& options) {
  const Estimate& plain = row.plain;
  const Estimate& shown = best(row);
  const double rhat = row.convergence.rhat;
  const char* mark = kinds.sharpened && !row.sharpened && !is_constant(row) ? "*" : "";
  std::vector<std::string> cells{mark + with_error(shown.mean, shown.mcse_mean),
                                 brief(shown.mcse_mean, 2), brief(shown.sd)};
  for (const ExtraColumn& extra : options.extra) cells.push_back(brief(extra.values[parameter]));
  if (options.extra.empty()) {
    for (const double p : {0.05, 0.5, 0.95}) cells.push_back(brief(quantile(shown, p)));
  }
  cells.push_back(count_text(row.convergence.ess_bulk));
  if (!summary.from_chunks) cells.push_back(count_text(row.convergence.ess_tail));
  cells.push_back(std::isnan(rhat) ? "-" : fmt::format("{:.3f}", rhat));
  if (kinds.better()) {
    const bool better = row.recycled || row.sharpened;
    cells.insert(cells.end(),
                 {better ? gain_text(gain(plain, shown)) : "-", count_text(shown.ess_mean),
                  with_error(plain.mean, plain.mcse_mean), brief(plain.mcse_mean, 2)});
  }
  return cells;
}

/// The worst R-hat and ESS of all parameters, shown or not.
std::string worst_text(const RunSummary& summary) {
  const ParameterSummary* rhat = nullptr;
  const ParameterSummary* ess = nullptr;
  const auto smaller = [](const ParameterSummary& row) {
    return std::fmin(row.convergence.ess_bulk, row.convergence.ess_tail);
  };
  for (const ParameterSummary& row : summary.parameters) {
    if (is_constant(row)) continue;
    if (std::isfinite(row.convergence.rhat) &&
        (rhat == nullptr || row.convergence.rhat > rhat->convergence.rhat)) {
      rhat = &row;
    }
    if (std::isfinite(smaller(row)) && (ess == nullptr || smaller(row) < smaller(*ess))) ess = &row;
  }
  if (rhat == nullptr || ess == nullptr) return "";
  const bool tail = ess->convergence.ess_tail <= ess->convergence.ess_bulk;
  return fmt::format("Worst: R-hat {:.3f} ({}), {}ESS {} ({}).\n", rhat->convergence.rhat,
                     rhat->name,
                     summary.from_chunks ? ""
                     : tail              ? "tail "
                                         : "bulk ",
                     count_text(smaller(*ess)), ess->name);
}

/// What the table leaves out, and the command that shows it.
std::string left_out_text(const ShownRows& rows, const std::string& command) {
  std::string text;
  const auto count = [](std::size_t n, const char* one) {
    return fmt::format("{} {}{}", grouped(n), one, n == 1 ? "" : "s");
  };
  if (rows.generated > 0) {
    const auto& names = rows.generated_names;
    text += count(rows.generated, "generated quantity");
    if (rows.generated > 1) text.replace(text.size() - 2, 2, "ies");
    text += fmt::format(" not shown: {} {}", command, names.front());
    if (names.size() > 1)
      text += fmt::format(" (or {}{})", names[1], names.size() > 2 ? ", ..." : "");
    text += "\n";
  }
  if (rows.others > 0) {
    text += count(rows.others, "other parameter") + fmt::format(" not shown: {} --all\n", command);
  }
  if (rows.constants > 0) text += count(rows.constants, "constant") + " not shown.\n";
  return text;
}

/// What the numbers of the table are, as far as that is not plain.
std::string legend_text(const std::vector<ShownRow>& rows, const RunSummary& summary,
                        const Kinds& kinds, const std::string& table) {
  std::string text;
  if (kinds.better()) {
    text += fmt::format(
        "Estimates are {}{}; ess_bulk, ess_tail and rhat are those of the plain chain.\n",
        kinds.sharpened ? "sharpened" : "recycled",
        table.find(" *") == std::string::npos ? "" : " (*: not)");
  }
  if (table.find(exact_text) != std::string::npos) {
    text += fmt::format("{}: more than a million, all but exact.\n", exact_text);
  }
  if (summary.from_chunks) {
    text +=
        "Without stored draws: errors and R-hat come from batch sums, quantiles from bins "
        "(summary.json has their error bounds).\n";
  }
  return rows.empty() ? "" : text;
}

std::string recycling_text(const RunSummary& summary) {
  std::vector<double> gains;
  for (const ParameterSummary& row : summary.parameters) {
    if (row.recycled) gains.push_back(gain(row.plain, *row.recycled));
  }
  const double typical = finite_median(gains);
  if (!std::isfinite(typical)) return "";
  return fmt::format(
      "Recycling: means are as precise as with {}x as many draws (median over parameters).\n",
      brief(std::min(typical, exact_from), 2));
}

std::string sharpening_text(const RunSummary& summary) {
  std::vector<double> means;
  std::vector<double> sds;
  std::vector<double> tails;
  for (const ParameterSummary& row : summary.parameters) {
    if (!row.sharpened) continue;
    const Estimate& estimate = row.sharpened->estimate;
    means.push_back(estimate.ess_mean);
    sds.push_back(estimate.ess_sd);
    tails.push_back(estimate.quantiles.back().ess);
  }
  const auto chains = static_cast<std::uint64_t>(summary.diagnostics.ebfmi.size());
  std::string text;
  if (!means.empty()) {
    text += fmt::format(
        "Sharpened with gradients: {} draws are as good as {} independent ones for a mean, {} for "
        "an sd",
        grouped(chains * summary.draws), rounded_count(finite_median(means)),
        rounded_count(finite_median(sds)));
    if (!summary.from_chunks) {
      text += fmt::format(
          ", {} for a {}% quantile", rounded_count(finite_median(tails)),
          brief(100 * summary.parameters.front().plain.quantiles.back().probability, 3));
    }
    text += " (medians over parameters).\n";
  } else if (summary.sharpening.check && !summary.sharpening.refused.empty()) {
    text += fmt::format("Not sharpened: {}.\n", summary.sharpening.refused);
  }
  if (summary.sharpening.check && summary.sharpening.check->features > 0) {
    const SteinCheck& check = *summary.sharpening.check;
    text += fmt::format("Stein check: worst |z| = {:.1f} of {} averages that must be 0, {}.\n",
                        check.worst, check.features,
                        check.passed()    ? "ok"
                        : check.refuses() ? "FAILED"
                                          : "failed, perhaps by chance");
  }
  return text;
}

/// A name with several indices has commas.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

}  // namespace

std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string brief(double value, int digits) {
  if (std::isnan(value)) return "-";
  if (value == 0) return "0";
  const double exponent = std::floor(std::log10(std::abs(value)));
  if (!(exponent >= -4 && exponent < 6)) {
    return std::isinf(value) ? fmt::format("{}", value)
                             : fmt::format("{:.{}e}", value, std::max(0, digits - 1));
  }
  // All requested digits, including trailing zeros, so that columns line up.
  const int decimals = std::max(0, digits - 1 - static_cast<int>(exponent));
  return fmt::format("{:.{}f}", value, decimals);
}

std::string summary_table(const RunSummary& summary, const TableOptions& options) {
  const Kinds kinds = kinds_of(summary.parameters);
  const ShownRows shown = shown_rows(summary.parameters, options.rows);
  std::vector<Column> columns = columns_of(summary, kinds, options);
  for (const ShownRow& each : shown.rows) {
    if (each.row == nullptr) continue;
    const auto parameter = static_cast<std::size_t>(each.row - summary.parameters.data());
    const std::vector<std::string> cells = cells_of(*each.row, parameter, summary, kinds, options);
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].cells.push_back(cells[c]);
  }
  const std::string table = layout(shown.rows, std::move(columns), text_width());
  return table + left_out_text(shown, options.command) +
         wrapped(legend_text(shown.rows, summary, kinds, table)) + "\n" + worst_text(summary) +
         (options.rows.chosen
              ? ""
              : wrapped(recycling_text(summary)) + wrapped(sharpening_text(summary)));
}

std::string summary_csv(const RunSummary& summary) {
  std::string text = "name,estimate,mean,mcse_mean,ess_mean,sd,mcse_sd,ess_sd";
  for (const double p : standard_probabilities) {
    text += fmt::format(",q{0},mcse_q{0},ess_q{0}", 100 * p);
  }
  text += ",rhat,ess_bulk,ess_tail\n";
  const auto add = [&](const ParameterSummary& row, const char* kind, const Estimate& estimate) {
    text += fmt::format("{},{},{},{},{},{},{},{}", csv_field(row.name), kind, estimate.mean,
                        estimate.mcse_mean, estimate.ess_mean, estimate.sd, estimate.mcse_sd,
                        estimate.ess_sd);
    for (const QuantileEstimate& q : estimate.quantiles) {
      text += fmt::format(",{},{},{}", q.value, q.mcse, q.ess);
    }
    text += fmt::format(",{},{},{}\n", row.convergence.rhat, row.convergence.ess_bulk,
                        row.convergence.ess_tail);
  };
  for (const ParameterSummary& row : summary.parameters) {
    add(row, "plain", row.plain);
    if (row.recycled) add(row, "recycled", *row.recycled);
    if (row.sharpened) add(row, "sharpened", row.sharpened->estimate);
  }
  return text;
}

std::string warnings_text(const Diagnostics& diagnostics) {
  if (diagnostics.warnings.empty()) {
    return wrapped("No warnings: no divergences, R-hat and effective sample sizes are fine.\n");
  }
  std::string text;
  for (const Warning& warning : diagnostics.warnings) {
    text += wrapped(fmt::format("Warning: {}\n", warning.text), 2);
  }
  return text;
}

}  // namespace rehmc::cli
