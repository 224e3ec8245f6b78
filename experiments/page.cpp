// Writes the page about the paper: banner, claims, then section by section tables and figures.
#include "experiments/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/canvas.hpp"
#include "experiments/csv.hpp"
#include "experiments/figure.hpp"
#include "experiments/paper_figures.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc::paper_assets {
extern const std::string_view paper_css;
}

namespace rehmc::experiments {
namespace {

struct Section {
  const char* id;
  const char* title;
  const char* about;
};

/// In the order of the paper. Those of the four cases have the names of their cases.
constexpr Section sections[] = {
    {"trajectory", "Figure 1: one recycled trajectory",
     "Every state of a simulated path is accepted or rejected as if the path ended there."},
    {"gaussian", "Multivariate Gaussian",
     "250 independent normals, whose variances are the eigenvalues of a Wishart draw with mean I; "
     "unit metric, so HMC and NUTS see strong correlations."},
    {"logistic", "Hierarchical logistic regression",
     "German credit data: 24 attributes, their two-way interactions and an intercept; 302 "
     "parameters with the log of the prior's scale."},
    {"volatility", "Stochastic volatility",
     "Daily closes of the S&P 500: the log volatilities of 3000 days, their precision integrated "
     "out."},
    {"cox", "Log-Gaussian Cox process",
     "A latent Gaussian field on a grid of 64 by 64; Riemannian HMC, whose metric is constant "
     "here."},
    {"counts", "How many states to recycle",
     "The gain with K states per iteration: the next state of the chain and K − 1 recycled ones."},
    {"lengths", "Length of the chain", "Does the gain depend on how long the chain is?"},
    {"beyond", "Beyond the paper",
     "The multinomial kernel, other rules of what to keep, the gradients that came with the "
     "states, "
     "and what recycling costs."},
};

constexpr const char* overhead_title = "What recycling costs";

std::optional<double> number_in(const std::string& text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// An integer with its thousands apart.
std::string grouped(long long value) {
  std::string digits = std::to_string(std::abs(value));
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return (value < 0 ? "−" : "") + digits;
}

/// A cell as readers like it: a number with four digits, a dash for nothing, other texts as is.
std::string shown(const std::string& text) {
  if (text.empty() || text == "nan") return "–";
  const std::optional<double> value = number_in(text);
  if (!value) return text;
  if (*value == std::round(*value) && std::abs(*value) < 1e15) {
    return grouped(static_cast<long long>(*value));
  }
  return fmt::format("{:.4g}", *value);
}

std::string duration(double seconds) {
  if (!(seconds >= 0.0)) return "–";
  if (seconds < 10.0) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string percent(double share) { return fmt::format("{:.0f}%", 100.0 * share); }

/// With its sign, as ratios on a log scale want it.
std::string signed_number(double value, int digits) {
  const std::string text = fmt::format("{:+.{}f}", value, digits);
  return text.starts_with('-') ? "−" + text.substr(1) : text;
}

/// A table in HTML, column by column: its head, and whether it holds numbers.
class HtmlTable {
 public:
  struct Column {
    const char* head;
    bool is_number = true;
  };
  explicit HtmlTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(const std::vector<std::string>& cells) {
    rows_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      rows_ += fmt::format("<td{}>{}</td>", kind(i), escaped(cells[i]));
    }
    rows_ += "</tr>\n";
  }

  std::string html() const {
    if (rows_.empty()) return "";
    std::string text = "<div class=\"scroll\"><table>\n<thead><tr>";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text += fmt::format("<th{}>{}</th>", kind(i), escaped(columns_[i].head));
    }
    return text + "</tr></thead>\n<tbody>\n" + rows_ + "</tbody></table></div>\n";
  }

 private:
  std::string kind(std::size_t i) const { return columns_[i].is_number ? " class=\"number\"" : ""; }

  std::vector<Column> columns_;
  std::string rows_;
};

std::string paragraph(const std::string& text) { return "<p>" + escaped(text) + "</p>\n"; }

std::string heading(const std::string& text) { return "<h3>" + escaped(text) + "</h3>\n"; }

/// Reads the tables, draws the figures and gathers the text.
class Page {
 public:
  explicit Page(const std::filesystem::path& folder)
      : results_(folder), notices_(results_.find("notice")) {}

  std::string html() {
    std::vector<std::pair<const Section*, std::string>> parts;
    for (const Section& section : sections) {
      results_.take_missing();
      std::string content = content_of(section.id);
      if (const auto missing = results_.take_missing(); !missing.empty()) {
        left_out_.emplace_back(&section, missing);
      }
      if (!content.empty()) parts.emplace_back(&section, std::move(content));
    }

    std::string body = head() + banners("");
    body += "<nav><a href=\"#claims\">Claims</a>";
    for (const auto& [section, content] : parts) {
      body += fmt::format("<a href=\"#{}\">{}</a>", section->id, escaped(section->title));
    }
    body += "</nav>\n" + claims() + left_out();
    for (const auto& [section, content] : parts) {
      body +=
          fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section->id, escaped(section->title));
      body += banners(section->id) + paragraph(section->about) + content + "</section>\n";
    }
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
        "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>The paper, "
        "claim "
        "by claim</title>\n<style>\n{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
        paper_assets::paper_css, body);
  }

 private:
  std::string head() {
    std::string text =
        "<header>\n<h1>The paper, claim by claim</h1>\n<p class=\"subtitle\">A. Nishimura and D. "
        "B. "
        "Dunson (2020), <i>Recycling intermediate steps to improve Hamiltonian Monte Carlo</i>: "
        "what it says, and what rehmc measures.</p>\n";
    if (const std::optional<Table> run = results_.find("run")) {
      text += "<p class=\"run\">";
      for (std::size_t row = 0; row < run->rows(); ++row) {
        const std::string& key = run->text(row, "key");
        const std::string& value = run->text(row, "value");
        const bool is_time = key == "seconds";
        text += fmt::format("{}{} <b>{}</b>", row > 0 ? " · " : "", escaped(is_time ? "took" : key),
                            escaped(is_time ? duration(run->number(row, "value")) : value));
      }
      text += "</p>\n";
    }
    return text + "</header>\n";
  }

  /// The loud notices that touch a section, or all of them at the top of the page.
  std::string banners(const std::string& section) const {
    if (!notices_) return "";
    const bool takes_all =
        section.empty() || section == "counts" || section == "lengths" || section == "beyond";
    std::string text;
    for (std::size_t row = 0; row < notices_->rows(); ++row) {
      const std::string& target = notices_->text(row, "case");
      if (!takes_all && target != section) continue;
      text += fmt::format("<p class=\"banner\" role=\"alert\"><b>⚠ {}</b>{}</p>\n",
                          escaped(target.empty() ? "Mind this" : name_of_case(target)),
                          escaped(notices_->text(row, "text")));
    }
    return text;
  }

  std::string claims() {
    const std::optional<Table> table = results_.find("claims");
    if (!table || table->rows() == 0) {
      return "<section id=\"claims\">\n<h2>Claims</h2>\n" +
             paragraph("No claims were judged: there is no claims.csv.") + "</section>\n";
    }
    std::map<std::string, int> tally;
    std::vector<std::string> order;
    std::map<std::string, std::string> groups;
    for (std::size_t row = 0; row < table->rows(); ++row) {
      ++tally[table->text(row, "verdict")];
      const std::string& section = table->text(row, "section");
      if (groups.try_emplace(section).second) order.push_back(section);
      groups[section] += claim(*table, row);
    }
    std::string text = "<section id=\"claims\">\n<h2>Claims</h2>\n<div class=\"tally\">";
    for (const char* verdict : {"agrees", "differs", "unclear"}) {
      text += fmt::format("<span class=\"{}\"><b>{}</b>{}</span>", verdict, tally[verdict],
                          name_of_verdict(verdict, tally[verdict] != 1));
    }
    text +=
        "</div>\n<div class=\"scroll\"><table class=\"claims\">\n<thead><tr><th>Claim</th><th>The "
        "paper</th><th>Measured</th><th>Verdict</th></tr></thead>\n";
    for (const std::string& section : order) {
      text += fmt::format("<tbody><tr><th class=\"group\" colspan=\"4\">{}</th></tr>\n{}</tbody>\n",
                          linked_title(section), groups[section]);
    }
    return text + "</table></div>\n</section>\n";
  }

  static std::string linked_title(const std::string& id) {
    for (const Section& section : sections) {
      if (section.id == id)
        return fmt::format("<a href=\"#{}\">{}</a>", id, escaped(section.title));
    }
    // Claims about the cost have a part of the last section.
    if (id == "overhead") return fmt::format("<a href=\"#overhead\">{}</a>", overhead_title);
    return escaped(id);
  }

  static std::string name_of_verdict(const std::string& verdict, bool of_many = false) {
    if (verdict == "unclear") return "not settled at this scale";
    return of_many ? verdict.substr(0, verdict.size() - 1) : verdict;
  }

  std::string claim(const Table& table, std::size_t row) const {
    const std::string& verdict = table.text(row, "verdict");
    if (verdict != "agrees" && verdict != "differs" && verdict != "unclear") {
      throw DataError(
          fmt::format("{}, row {}, column verdict: '{}'; expected agrees, differs or unclear",
                      (results_.folder() / "claims.csv").string(), row + 1, verdict));
    }
    const std::string& error = table.text(row, "error");
    const std::string& remark = table.text(row, "remark");
    return fmt::format(
        "<tr id=\"claim-{}\"><td>{}{}</td><td>{}</td><td>{}{}</td><td><span class=\"chip "
        "{}\">{}</span></td></tr>\n",
        escaped(table.text(row, "id")), escaped(table.text(row, "claim")),
        remark.empty() ? "" : "<span class=\"remark\">" + escaped(remark) + "</span>",
        escaped(table.text(row, "paper")), escaped(table.text(row, "measured")),
        error.empty() ? "" : " <span class=\"error\">± " + escaped(error) + "</span>", verdict,
        name_of_verdict(verdict));
  }

  std::string left_out() const {
    if (left_out_.empty()) return "";
    std::string text =
        "<div class=\"left-out\"><p><b>Not in this page.</b> What needs these tables is left out, "
        "since they are not in the folder:</p>\n";
    for (const auto& [section, files] : left_out_) {
      text += fmt::format("<p>{}: ", escaped(section->title));
      for (const std::string& file : files) {
        text += fmt::format("{}<code>{}</code>", file == *files.begin() ? "" : ", ", escaped(file));
      }
      text += "</p>\n";
    }
    return text + "</div>\n";
  }

  std::string content_of(const std::string& id) {
    if (id == "trajectory") return drawn(trajectory_figures(results_));
    if (id == "counts") return with_table(smallest_counts(), drawn(count_figures(results_)));
    if (id == "lengths") return drawn(length_figures(results_));
    if (id == "beyond") return beyond();
    return of_case(id);
  }

  /// A table alone makes no section.
  static std::string with_table(const std::string& table, const std::string& content) {
    return content.empty() ? "" : table + content;
  }

  std::string of_case(const std::string& target) {
    std::string content = gains(target, "hmc");
    if (target == "gaussian") content += drawn(component_figures(results_));
    content += gains(target, "nuts-slice");
    if (target == "gaussian" || target == "logistic") {
      content += drawn(tuning_figures(results_, target));
    }
    return with_table(settings(target), content);
  }

  std::string beyond() {
    std::string content;
    const auto add = [&](const char* title, const std::string& part) {
      if (!part.empty()) content += heading(title) + part;
    };
    add("Multinomial against slice", drawn(multinomial_figures(results_)));
    std::string multinomial;
    for (const char* target : shown_cases) multinomial += gains(target, "nuts");
    add("Recycling under the multinomial kernel", multinomial);
    add("Which states to keep", drawn(family_figures(results_)));
    add("Gradients", with_table(sharpening(), drawn(sharpening_figures(results_))));
    if (const std::string costs = overhead(); !costs.empty()) {
      content += fmt::format("<h3 id=\"overhead\">{}</h3>\n", overhead_title) + costs;
    }
    return content;
  }

  /// Draws figures and places them, each under its number.
  std::string drawn(const std::vector<Figure>& figures) {
    std::string text;
    const std::filesystem::path folder = results_.folder() / "figures";
    for (const Figure& figure : figures) {
      std::filesystem::create_directories(folder);
      draw(figure, folder);
      ++figures_;
      text += fmt::format(
          "<figure id=\"figure-{0}\"><img src=\"figures/{0}.svg\" "
          "alt=\"{1}\">\n<figcaption><b>Plot "
          "{2}.</b> {1} <a href=\"figures/{0}.png\">PNG</a></figcaption></figure>\n",
          figure.name, escaped(figure.caption), figures_);
    }
    return text;
  }

  std::string settings(const std::string& target) {
    const std::optional<Table> table = results_.find("settings");
    if (!table) return "";
    HtmlTable html({{"kernel", false},
                    {"step size"},
                    {"acceptance"},
                    {"leapfrogs"},
                    {"path length"},
                    {"chains"},
                    {"iterations"},
                    {"ground truth", false},
                    {"its error"},
                    {"took"},
                    {"µs a leapfrog"}});
    double seconds = 0.0;
    for (std::size_t row = 0; row < table->rows(); ++row) {
      if (table->text(row, "case") != target) continue;
      const auto cell = [&](const char* column) { return shown(table->text(row, column)); };
      const std::string& truth = table->text(row, "truth_iterations");
      const bool is_run = number_in(truth).value_or(0.0) > 0.0;
      seconds += table->number(row, "seconds");
      html.add({name_of_kernel(table->text(row, "kernel"), target), cell("step_size"),
                cell("acceptance"), cell("leapfrogs"), cell("path_length"), cell("chains"),
                cell("iterations"),
                table->text(row, "truth_source") +
                    (is_run ? fmt::format(", {} iterations", shown(truth)) : ""),
                cell("truth_error"), duration(table->number(row, "seconds")),
                cell("microseconds_per_leapfrog")});
    }
    if (html.html().empty()) return "";
    return html.html() +
           paragraph(fmt::format(
               "Leapfrogs: on average per iteration. The ground truth's error is its squared error "
               "over the mean squared error of a recycled chain. Simulated in {}.",
               duration(seconds)));
  }

  /// The figure of one case and kernel with its averages.
  std::string gains(const std::string& target, const std::string& kernel) {
    const std::vector<Figure> figures = gain_figures(results_, target, kernel);
    if (figures.empty()) return "";
    const Table table = *results_.find(target + "-" + kernel);
    HtmlTable html({{"statistic", false},
                    {"average log₂ ratio"},
                    {"gain in ESS"},
                    {"with the paper's number of states"},
                    {"smallest"},
                    {"largest"},
                    {"parameters that gain"}});
    const std::string k = shown(table.text(0, "k"));
    for (const std::string statistic : shown_statistics) {
      const std::vector<double> ratios = table.numbers(statistic + "_log2");
      const double average = mean_of(ratios);
      const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
      const auto better =
          std::count_if(ratios.begin(), ratios.end(), [](double r) { return r > 0; });
      html.add({name_of_statistic(statistic), signed_number(average, 2),
                signed_number(100.0 * (std::exp2(average) - 1.0), 0) + "%",
                fmt::format("{} (K = {})",
                            signed_number(mean_of(table.numbers(statistic + "_log2_k")), 2), k),
                signed_number(*low, 2), signed_number(*high, 2),
                percent(static_cast<double>(better) / static_cast<double>(ratios.size()))});
    }
    return drawn(figures) + html.html();
  }

  static double mean_of(const std::vector<double>& values) {
    double sum = 0.0;
    std::size_t count = 0;
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      sum += value;
      ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
  }

  /// The paper's rule: the fewest states whose ESS is within 5% of that of all states.
  std::string smallest_counts() {
    const std::optional<Table> counts = results_.find("counts");
    if (!counts) return "";
    std::map<std::pair<std::string, std::string>, std::map<std::string, double>> found;
    for (std::size_t row = 0; row < counts->rows(); ++row) {
      if (counts->text(row, "statistic") != "all") continue;
      auto& best = found[{counts->text(row, "case"), counts->text(row, "kernel")}];
      const std::string& family = counts->text(row, "family");
      if (family == "all" || counts->number(row, "ess_share") < 0.95) continue;
      const double k = counts->number(row, "k");
      const auto known = best.find(family);
      if (known == best.end() || k < known->second) best[family] = k;
    }
    HtmlTable html(
        {{"case", false}, {"kernel", false}, {"K: final state + (K − 1)"}, {"K: spread"}});
    for (const std::string target : shown_cases) {
      for (const std::string kernel : shown_kernels) {
        const auto best = found.find({target, kernel});
        if (best == found.end()) continue;
        const auto cell = [&](const char* family) {
          const auto k = best->second.find(family);
          return k == best->second.end() ? std::string("–") : fmt::format("{:g}", k->second);
        };
        html.add(
            {name_of_case(target), name_of_kernel(kernel, target), cell("final"), cell("spread")});
      }
    }
    if (html.html().empty()) return "";
    return paragraph(
               "The fewest states with an ESS, averaged over estimators, within 5% of what all "
               "states give (–: none of those that were tried). The Gaussian's average is over "
               "variances and quantiles, since means of narrow coordinates gain without end:") +
           html.html();
  }

  std::string sharpening() {
    const std::optional<Table> table = results_.find("sharpening");
    if (!table) return "";
    HtmlTable html({{"case", false},
                    {"statistic", false},
                    {"recycled"},
                    {"± log₂"},
                    {"recycled and sharpened"},
                    {"± log₂"},
                    {"runs"}});
    for (std::size_t row = 0; row < table->rows(); ++row) {
      const auto gain = [&](const char* column) {
        const double value = table->number(row, column);
        if (value > 1e6) return std::string("more than ×10⁶");
        return value < 10 ? fmt::format("×{:.2f}", value) : fmt::format("×{:.0f}", value);
      };
      const auto cell = [&](const char* column) { return shown(table->text(row, column)); };
      html.add({name_of_case(table->text(row, "case")),
                name_of_statistic(table->text(row, "statistic")), gain("recycled_gain"),
                cell("recycled_error"), gain("sharpened_gain"), cell("sharpened_error"),
                cell("runs")});
    }
    return html.html();
  }

  std::string overhead() {
    const std::optional<Table> table = results_.find("overhead");
    if (!table) return "";
    HtmlTable html({{"case", false},
                    {"kernel", false},
                    {"recycling", false},
                    {"more time"},
                    {"±"},
                    {"states kept per draw"},
                    {"bytes per draw"}});
    for (std::size_t row = 0; row < table->rows(); ++row) {
      const std::string& target = table->text(row, "case");
      html.add({name_of_case(target), name_of_kernel(table->text(row, "kernel"), target),
                table->text(row, "recycling"),
                signed_number(table->number(row, "time_percent"), 1) + "%",
                fmt::format("{:.1f}%", table->number(row, "time_error")),
                shown(table->text(row, "kept_states")), shown(table->text(row, "bytes_per_draw"))});
    }
    return html.html();
  }

  Results results_;
  std::optional<Table> notices_;
  std::vector<std::pair<const Section*, std::set<std::string>>> left_out_;
  int figures_ = 0;
};

bool holds_tables(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".csv") return true;
  }
  return false;
}

}  // namespace

void draw_results(const std::filesystem::path& folder) {
  if (!holds_tables(folder)) {
    throw NoInputError(fmt::format(
        "no results in '{}': expected a folder with the CSV files that `rehmc paper` writes",
        folder.string()));
  }
  write_whole(folder / "paper.html", Page(folder).html());
}

}  // namespace rehmc::experiments
