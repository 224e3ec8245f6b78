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

namespace rehmc::cli {

namespace {

constexpr std::size_t most_rows = 20;

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
  if (!std::isfinite(value)) return "-";
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

std::string gain_text(double value) {
  return std::isfinite(value) ? fmt::format("x{}", brief(value, value < 10 ? 2 : 3)) : "-";
}

/// Smaller for less precise parameters.
double soundness(const ParameterSummary& row) {
  const double ess = std::min(row.convergence.ess_bulk, row.convergence.ess_tail);
  return std::isnan(ess) ? -1 : ess;
}

/// The rows to show, in order.
std::vector<const ParameterSummary*> chosen_rows(const std::vector<ParameterSummary>& rows,
                                                 bool all) {
  std::vector<const ParameterSummary*> chosen;
  for (const ParameterSummary& row : rows) chosen.push_back(&row);
  if (all || rows.size() <= most_rows) return chosen;
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto* a, const auto* b) { return soundness(*a) < soundness(*b); });
  chosen.resize(most_rows);
  return chosen;
}

using Cells = std::vector<std::string>;

/// Right-aligned columns as wide as they need, the first one left-aligned; an empty header cell
/// draws a bar.
std::string layout(const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Cells& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      line += c == 0 ? fmt::format("{:<{}}", row[c], widths[c])
                     : fmt::format("  {:>{}}", row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// Of the finite values; NaN if there are none.
double finite_median(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  return median(std::move(values));
}

/// Two significant digits: an effective number of draws is not known more precisely.
std::string rounded_count(double count) {
  if (!(count >= 100)) return fmt::format("{:.0f}", count);
  const double unit = std::pow(10, std::floor(std::log10(count)) - 1);
  return count < 1e15 ? grouped(static_cast<std::uint64_t>(std::round(count / unit) * unit))
                      : brief(count, 2);
}

/// Which estimates the parameters of a run have.
struct Kinds {
  bool recycled = false;
  bool sharpened = false;      ///< some of them
  bool all_sharpened = false;  ///< every one

  bool better() const { return recycled || sharpened; }
};

Kinds kinds_of(const std::vector<ParameterSummary>& rows) {
  const auto is_sharpened = [](const ParameterSummary& row) { return row.sharpened.has_value(); };
  return {.recycled = !rows.empty() && rows.front().recycled.has_value(),
          .sharpened = std::any_of(rows.begin(), rows.end(), is_sharpened),
          .all_sharpened = std::all_of(rows.begin(), rows.end(), is_sharpened)};
}

Cells head_of(const RunSummary& summary, const Kinds& kinds) {
  Cells head{"parameter", "mean", "mcse", "sd", "5%", "50%", "95%", "ess bulk", "ess tail", "rhat"};
  if (summary.from_chunks) head[7] = "ess mean";
  if (kinds.better()) {
    head.insert(head.end(),
                {"|", kinds.sharpened ? "sharpened" : "recycled", "mcse", "ess", "gain"});
  }
  return head;
}

Cells cells_of(const ParameterSummary& row, const Kinds& kinds) {
  const Estimate& plain = row.plain;
  const double rhat = row.convergence.rhat;
  Cells cells{row.name,
              with_error(plain.mean, plain.mcse_mean),
              brief(plain.mcse_mean, 2),
              brief(plain.sd),
              brief(quantile(plain, 0.05)),
              brief(quantile(plain, 0.5)),
              brief(quantile(plain, 0.95)),
              count_text(row.convergence.ess_bulk),
              count_text(row.convergence.ess_tail),
              std::isnan(rhat) ? "-" : fmt::format("{:.3f}", rhat)};
  if (kinds.better()) {
    const Estimate& better = best(row);
    const char* mark = kinds.sharpened && !row.sharpened ? "*" : "";
    cells.insert(cells.end(),
                 {"|", mark + with_error(better.mean, better.mcse_mean), brief(better.mcse_mean, 2),
                  count_text(better.ess_mean), gain_text(gain(plain, better))});
  }
  return cells;
}

std::string recycling_text(const RunSummary& summary) {
  std::vector<double> gains;
  for (const ParameterSummary& row : summary.parameters) {
    if (row.recycled) gains.push_back(gain(row.plain, *row.recycled));
  }
  const double typical = finite_median(gains);
  if (!std::isfinite(typical)) return "";
  return fmt::format(
      "\nRecycling: means are as precise as with {}x as many draws (median over parameters).\n",
      brief(typical, 2));
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
  if (!(exponent >= -4 && exponent < 6)) return fmt::format("{:.{}g}", value, digits);
  // All requested digits, including trailing zeros, so that columns line up.
  const int decimals = std::max(0, digits - 1 - static_cast<int>(exponent));
  return fmt::format("{:.{}f}", value, decimals);
}

std::string summary_table(const RunSummary& summary, const TableOptions& options) {
  const Kinds kinds = kinds_of(summary.parameters);
  const auto chosen = chosen_rows(summary.parameters, options.all);
  std::vector<Cells> rows{head_of(summary, kinds)};
  for (const ParameterSummary* row : chosen) rows.push_back(cells_of(*row, kinds));
  std::string text = layout(rows);
  if (chosen.size() < summary.parameters.size()) {
    text += fmt::format(
        "The {} of {} parameters with the smallest ESS, worst first; for all of them: {}\n",
        chosen.size(), summary.parameters.size(), options.remedy);
  }
  if (summary.from_chunks) {
    text +=
        "Without stored draws: errors and R-hat come from batch sums, quantiles from bins "
        "(summary.json has their error bounds).\n";
  }
  if (kinds.sharpened && !kinds.all_sharpened) {
    text += "* recycled, not sharpened; summary.json says why.\n";
  }
  return text + recycling_text(summary) + sharpening_text(summary);
}

std::string summary_csv(const RunSummary& summary) {
  std::string text = "name,estimate,mean,mcse_mean,ess_mean,sd,mcse_sd,ess_sd";
  for (const double p : standard_probabilities) {
    text += fmt::format(",q{0},mcse_q{0},ess_q{0}", 100 * p);
  }
  text += ",rhat,ess_bulk,ess_tail\n";
  const auto add = [&](const ParameterSummary& row, const char* kind, const Estimate& estimate) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{}", row.name, kind, estimate.mean, estimate.mcse_mean,
                    estimate.ess_mean, estimate.sd, estimate.mcse_sd, estimate.ess_sd);
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
    return "No warnings: no divergences, R-hat and effective sample sizes are fine.\n";
  }
  std::string text;
  for (const Warning& warning : diagnostics.warnings) {
    text += fmt::format("Warning: {}\n", warning.text);
  }
  return text;
}

}  // namespace rehmc::cli
