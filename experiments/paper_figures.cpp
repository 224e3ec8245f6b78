// Turns tables of results into figures: which curves, in which order, with which captions.
#include "experiments/paper_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "experiments/contours.hpp"

namespace rehmc::experiments {
namespace {

constexpr const char* ratio_label = "log₂ ratio of ESS";
/// Curves over thousands of parameters are drawn by groups of neighbours, as many as this.
constexpr std::size_t most_groups = 60;

CurveStyle style_of_statistic(const std::string& statistic) {
  if (statistic == "mean") return {.colour = palette::black, .width = 1.8};
  if (statistic == "variance") return {.colour = palette::vermilion, .marker = Marker::none};
  return {.colour = palette::blue};
}

CurveStyle style_of_family(const std::string& family) {
  if (family == "spread") return {palette::blue, Dash::solid, Marker::circle};
  if (family == "final") return {palette::vermilion, Dash::solid, Marker::square};
  if (family == "simple") return {palette::green, Dash::solid, Marker::triangle};
  if (family == "all") return {palette::grey, Dash::dashed, Marker::none};
  return {palette::purple, Dash::dotted, Marker::none, 2.0};
}

std::string name_of_family(const std::string& family) {
  if (family == "final") return "final state + (K − 1)";
  if (family == "all") return "all states";
  if (family == "accept-each") return "all states, accepted one by one";
  return family;
}

double middle_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The order that sorts the values; what is not finite comes last.
std::vector<std::size_t> order_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return std::isfinite(values[i]) ? values[i] : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

/// A curve over parameters in the given order. Many parameters: one point per group of neighbours,
/// its median, in a band from the group's smallest to its largest value.
Curve over_parameters(std::string label, const std::vector<double>& values,
                      const std::vector<std::size_t>& order, CurveStyle style) {
  Curve curve{.label = std::move(label), .x = {}, .y = {}, .style = style};
  const std::size_t groups = std::min(order.size(), most_groups);
  const bool grouped = groups < order.size();
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t first = group * order.size() / groups;
    const std::size_t last = (group + 1) * order.size() / groups;
    std::vector<double> members;
    for (std::size_t i = first; i < last; ++i) {
      if (std::isfinite(values[order[i]])) members.push_back(values[order[i]]);
    }
    // The ends of the axis are the first and the last parameter.
    const double share =
        groups > 1 ? static_cast<double>(group) / (static_cast<double>(groups) - 1) : 0.0;
    curve.x.push_back(1.0 + share * (static_cast<double>(order.size()) - 1.0));
    curve.y.push_back(middle_of(members));
    if (!grouped) continue;
    const auto [low, high] = std::minmax_element(members.begin(), members.end());
    curve.lower.push_back(members.empty() ? curve.y.back() : *low);
    curve.upper.push_back(members.empty() ? curve.y.back() : *high);
  }
  return curve;
}

std::string grouping_note(std::size_t parameters) {
  if (parameters <= most_groups) return "";
  return fmt::format(
      " Lines: medians of groups of {} neighbouring parameters; bands: from the smallest to the "
      "largest value of a group.",
      (parameters + most_groups - 1) / most_groups);
}

/// Keeps a few giants from flattening all other curves: cuts the axis, and says how far they go.
void cut_giants(Panel& panel) {
  std::vector<double> values;
  double top = -std::numeric_limits<double>::infinity();
  for (const Curve& curve : panel.curves) {
    for (const double value : curve.y) {
      if (std::isfinite(value)) values.push_back(value);
    }
    for (const double value : curve.upper) top = std::max(top, value);
    for (const double value : curve.y) top = std::max(top, value);
  }
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  const double body = std::max(at(0.97), 0.0) - std::min(at(0.0), 0.0);
  const double limit = std::max(at(0.97), 0.0) + 0.4 * body;
  if (!(top > limit + 0.6 * body)) return;
  double bottom = std::min(0.0, values.front());
  for (const Curve& curve : panel.curves) {
    for (const double value : curve.lower) bottom = std::min(bottom, value);
  }
  panel.y.limits = {bottom - 0.06 * (limit - bottom), limit};
  const double height = limit - 0.06 * (limit - bottom);
  for (const Curve& curve : panel.curves) {
    const auto giant =
        std::find_if(curve.y.begin(), curve.y.end(), [&](double value) { return value > limit; });
    if (giant == curve.y.end()) continue;
    const double x = curve.x[static_cast<std::size_t>(giant - curve.y.begin())];
    panel.notes.push_back({x - 0.14 * curve.x.back(), height, fmt::format("up to {:.1f} →", top)});
    return;
  }
}

/// A panel of log2 ratios over parameters that are sorted by the first curve, with its zero line.
Panel ratio_panel(const std::string& title, const std::string& x_label, std::vector<Curve> curves) {
  Panel panel{.title = title,
              .x = {x_label},
              .y = {ratio_label},
              .curves = std::move(curves),
              .guides = {0.0},
              .shows_factors = true};
  cut_giants(panel);
  return panel;
}

std::string column(const std::string& statistic, const char* what) {
  return statistic + "_" + what;
}

Panel gain_panel(const Table& table) {
  const std::vector<std::size_t> order = order_of(table.numbers("mean_log2"));
  std::vector<Curve> curves;
  for (const std::string statistic : shown_statistics) {
    curves.push_back(over_parameters(name_of_statistic(statistic),
                                     table.numbers(column(statistic, "log2")), order,
                                     style_of_statistic(statistic)));
  }
  return ratio_panel("Gain from recycling", "parameters, sorted by the ratio of the mean",
                     std::move(curves));
}

/// Each curve is sorted by itself: so one sees how the worst, the middle and the best parameter
/// fare; how single parameters fare is in the panel of gains.
Panel size_panel(const Table& table) {
  Panel panel{.title = "ESS per iteration",
              .x = {"parameters, each curve sorted by itself"},
              .y = {"ESS per iteration", AxisScale::log10},
              .curves = {}};
  for (const std::string statistic : {"mean", "variance"}) {
    for (const std::string which : {"recycled", "plain"}) {
      const std::vector<double> sizes = table.numbers(column(statistic, which.c_str()));
      CurveStyle style = style_of_statistic(statistic);
      style.dash = which == "plain" ? Dash::dashed : Dash::solid;
      Curve curve = over_parameters(name_of_statistic(statistic) + ", " + which, sizes,
                                    order_of(sizes), style);
      curve.lower.clear();  // sorted by itself, it has no width
      curve.upper.clear();
      panel.curves.push_back(std::move(curve));
    }
  }
  return panel;
}

/// The rows of a table whose named cells have the given texts.
std::vector<std::size_t> rows_where(
    const Table& table, const std::vector<std::pair<std::string, std::string>>& conditions) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (std::all_of(conditions.begin(), conditions.end(), [&](const auto& condition) {
          return table.text(row, condition.first) == condition.second;
        })) {
      rows.push_back(row);
    }
  }
  return rows;
}

/// A curve through rows of a summary table, sorted by x, with error bars.
Curve through_rows(const Table& table, std::vector<std::size_t> rows, const std::string& x,
                   const std::string& y, const std::string& error) {
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return table.number(a, x) < table.number(b, x);
  });
  Curve curve;
  for (const std::size_t row : rows) {
    curve.x.push_back(table.number(row, x));
    curve.y.push_back(table.number(row, y));
    if (!error.empty()) curve.error.push_back(table.number(row, error));
  }
  return curve;
}

/// Each different text of a column, in order of appearance.
std::vector<std::string> texts_of(const Table& table, const std::string& column) {
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string& text = table.text(row, column);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  return texts;
}

/// Gains against the number of states under one kernel. Families without a number of states, which
/// the tables give as 0, are level lines.
Panel family_panel(const Table& counts, const std::string& target, const std::string& kernel) {
  Panel panel{.title = name_of_kernel(kernel, target),
              .x = {"states per iteration, K", AxisScale::log2},
              .y = {ratio_label},
              .curves = {},
              .guides = {0.0},
              .shows_factors = true};
  const auto rows_of = [&](const std::string& family) {
    return rows_where(
        counts, {{"case", target}, {"kernel", kernel}, {"family", family}, {"statistic", "q97.5"}});
  };
  double first = std::numeric_limits<double>::infinity();
  double last = 0.0;
  for (const std::string family : {"spread", "final", "simple"}) {
    if (rows_of(family).empty()) continue;
    Curve curve = through_rows(counts, rows_of(family), "k", "log2", "log2_error");
    curve.label = name_of_family(family);
    curve.style = style_of_family(family);
    first = std::min(first, curve.x.front());
    last = std::max(last, curve.x.back());
    panel.curves.push_back(std::move(curve));
  }
  if (panel.curves.empty()) return panel;
  for (const std::string family : {"all", "accept-each"}) {
    if (rows_of(family).empty()) continue;
    const double gain = counts.number(rows_of(family).front(), "log2");
    panel.curves.push_back({.label = name_of_family(family),
                            .x = {first, last},
                            .y = {gain, gain},
                            .style = style_of_family(family)});
  }
  return panel;
}

/// At most five numbers of states, from the most to the fewest, spread evenly over the powers.
std::vector<std::string> chosen_counts(const Table& table) {
  std::vector<std::pair<double, std::string>> found;
  for (const std::string& name : table.columns()) {
    if (name.size() > 1 && name[0] == 'k') found.emplace_back(std::stod(name.substr(1)), name);
  }
  std::sort(found.rbegin(), found.rend());
  constexpr std::size_t most = 5;
  std::vector<std::string> chosen;
  const std::size_t count = std::min(most, found.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = count == 1 ? 0 : i * (found.size() - 1) / (count - 1);
    chosen.push_back(found[at].second);
  }
  return chosen;
}

Panel counts_panel(const Table& table, const std::string& title) {
  // From dark to light, as the paper goes from many states to few.
  constexpr std::array<Colour, 5> colours{Colour{38, 38, 90}, Colour{0, 114, 178},
                                          Colour{0, 158, 115}, Colour{213, 94, 0},
                                          Colour{230, 159, 0}};
  const std::vector<std::string> names = chosen_counts(table);
  std::vector<Curve> curves;
  if (!names.empty()) {
    const std::vector<std::size_t> order = order_of(table.numbers(names.front()));
    for (std::size_t i = 0; i < names.size(); ++i) {
      Curve curve = over_parameters("K = " + names[i].substr(1), table.numbers(names[i]), order,
                                    {.colour = colours[i]});
      curve.lower.clear();  // five bands would hide each other
      curve.upper.clear();
      curves.push_back(std::move(curve));
    }
  }
  return ratio_panel(title, "parameters, sorted by the ratio at the largest K", std::move(curves));
}

Panel short_chain_panel(const Table& table, const std::string& title) {
  const std::vector<std::size_t> order = order_of(table.numbers("mean_log2"));
  std::vector<Curve> curves;
  for (const std::string statistic : {"mean", "variance"}) {
    CurveStyle style = style_of_statistic(statistic);
    curves.push_back(over_parameters(name_of_statistic(statistic) + ", full chain",
                                     table.numbers(column(statistic, "log2")), order, style));
    style.dash = Dash::dotted;
    curves.push_back(over_parameters(name_of_statistic(statistic) + ", 1/32 of it",
                                     table.numbers(column(statistic, "log2_short")), order, style));
  }
  return ratio_panel(title, "parameters, sorted by the ratio of the mean", std::move(curves));
}

Panel length_panel(const Table& lengths, const std::string& target) {
  Panel panel{.title = name_of_case(target),
              .x = {"length, as a share of the full chain", AxisScale::log2},
              .y = {ratio_label},
              .curves = {},
              .guides = {0.0},
              .shows_factors = true};
  for (const std::string kernel : {"hmc", "nuts-slice"}) {
    for (const std::string statistic : shown_statistics) {
      const auto rows =
          rows_where(lengths, {{"case", target}, {"kernel", kernel}, {"statistic", statistic}});
      if (rows.empty()) continue;
      Curve curve = through_rows(lengths, rows, "fraction", "log2", "log2_error");
      const bool is_hmc = kernel == "hmc";
      curve.label = fmt::format("{}, {}", is_hmc ? "HMC" : "NUTS", name_of_statistic(statistic));
      curve.style = style_of_statistic(statistic);
      curve.style.marker = is_hmc ? Marker::circle : Marker::diamond;
      curve.style.dash = is_hmc ? Dash::solid : Dash::dashed;
      panel.curves.push_back(std::move(curve));
    }
  }
  return panel;
}

/// ESS per gradient of one table over that of another, sorted by the mean's ratio.
Panel duel_panel(const Table& one, const Table& other, double gradients_ratio, const char* which,
                 const std::string& title) {
  std::map<std::string, std::vector<double>> ratios;
  for (const std::string statistic : shown_statistics) {
    const std::vector<double> above = one.numbers(column(statistic, which));
    const std::vector<double> below = other.numbers(column(statistic, which));
    std::vector<double>& ratio = ratios[statistic];
    for (std::size_t i = 0; i < std::min(above.size(), below.size()); ++i) {
      ratio.push_back(std::log2(above[i] / below[i] / gradients_ratio));
    }
  }
  const std::vector<std::size_t> order = order_of(ratios["mean"]);
  std::vector<Curve> curves;
  for (const std::string statistic : shown_statistics) {
    curves.push_back(over_parameters(name_of_statistic(statistic), ratios[statistic], order,
                                     style_of_statistic(statistic)));
  }
  Panel panel =
      ratio_panel(title, "parameters, sorted by the ratio of the mean", std::move(curves));
  panel.y.label = "log₂ ratio of ESS per gradient";
  return panel;
}

Panel component_panel(const Table& table) {
  Panel panel{.title = "Gain from recycling",
              .x = {"iterations", AxisScale::log10},
              .y = {ratio_label},
              .curves = {},
              .guides = {0.0},
              .shows_factors = true};
  for (const std::string kernel : {"hmc", "nuts-slice"}) {
    for (const std::string quantity : {"angle", "eigenvalue"}) {
      const auto rows = rows_where(table, {{"kernel", kernel}, {"quantity", quantity}});
      if (rows.empty()) continue;
      Curve curve = through_rows(table, rows, "iterations", "log2", "log2_error");
      const bool is_hmc = kernel == "hmc";
      curve.label = fmt::format("{}, {}", is_hmc ? "HMC" : "NUTS", quantity);
      curve.style = {quantity == "angle" ? palette::blue : palette::vermilion,
                     is_hmc ? Dash::solid : Dash::dashed,
                     is_hmc ? Marker::circle : Marker::diamond};
      panel.curves.push_back(std::move(curve));
    }
  }
  return panel;
}

Panel angle_panel(const Table& table) {
  Panel panel{.title = "Error of the direction",
              .x = {"iterations", AxisScale::log10},
              .y = {"root mean squared angle (radians)", AxisScale::log10},
              .curves = {}};
  for (const std::string kernel : {"hmc", "nuts-slice"}) {
    for (const bool recycled : {false, true}) {
      const auto rows = rows_where(table, {{"kernel", kernel}, {"quantity", "angle"}});
      if (rows.empty()) continue;
      Curve curve =
          through_rows(table, rows, "iterations", recycled ? "recycled_rmse" : "plain_rmse", "");
      const bool is_hmc = kernel == "hmc";
      curve.label = fmt::format("{}, {}", is_hmc ? "HMC" : "NUTS", recycled ? "recycled" : "plain");
      curve.style = {recycled ? palette::blue : palette::grey, is_hmc ? Dash::solid : Dash::dashed,
                     is_hmc ? Marker::circle : Marker::diamond};
      panel.curves.push_back(std::move(curve));
    }
  }
  return panel;
}

std::optional<double> leapfrogs_of(const Table& settings, const std::string& target,
                                   const std::string& kernel) {
  const auto rows = rows_where(settings, {{"case", target}, {"kernel", kernel}});
  if (rows.empty()) return std::nullopt;
  return settings.number(rows.front(), "leapfrogs");
}

Curve points_of(const Table& table, const std::vector<std::size_t>& rows) {
  Curve curve;
  for (const std::size_t row : rows) {
    curve.x.push_back(table.number(row, "x"));
    curve.y.push_back(table.number(row, "y"));
  }
  return curve;
}

}  // namespace

std::optional<Table> Results::find(const std::string& name) {
  const std::filesystem::path path = folder_ / (name + ".csv");
  if (std::filesystem::exists(path)) return Table::read(path);
  missing_.insert(name + ".csv");
  return std::nullopt;
}

std::string name_of_statistic(const std::string& statistic) {
  return statistic == "q97.5" ? "97.5% quantile" : statistic;
}

std::string name_of_kernel(const std::string& kernel, const std::string& target) {
  if (kernel == "hmc") return target == "cox" ? "Riemannian HMC" : "HMC";
  if (kernel == "nuts-slice") return "NUTS (slice)";
  if (kernel == "nuts") return "NUTS (multinomial)";
  return kernel;
}

std::string name_of_case(const std::string& target) {
  if (target == "gaussian") return "Multivariate Gaussian";
  if (target == "logistic") return "Hierarchical logistic regression";
  if (target == "volatility") return "Stochastic volatility";
  if (target == "cox") return "Log-Gaussian Cox process";
  return target;
}

std::vector<Figure> trajectory_figures(Results& results) {
  const std::optional<Table> steps = results.find("trajectory");
  const std::optional<Table> density = results.find("banana");
  if (!steps || steps->rows() == 0) return {};

  Panel panel{.title = "", .x = {"θ₁"}, .y = {"θ₂"}, .curves = {}};
  if (density) {
    for (const std::vector<Point>& contour : highest_density_contours(
             {density->numbers("x"), density->numbers("y"), density->numbers("density")},
             {0.1, 0.3, 0.5, 0.7, 0.9, 0.99})) {
      Curve curve{
          .label = "", .x = {}, .y = {}, .style = {.colour = {196, 203, 214}, .width = 1.1}};
      for (const Point& point : contour) {
        curve.x.push_back(point.x);
        curve.y.push_back(point.y);
      }
      panel.curves.push_back(std::move(curve));
    }
  }
  std::vector<std::size_t> all(steps->rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::size_t> accepted;
  std::vector<std::size_t> rejected;
  for (std::size_t row = 1; row < steps->rows(); ++row) {
    (steps->number(row, "accepted") != 0.0 ? accepted : rejected).push_back(row);
  }
  Curve path = points_of(*steps, all);
  path.style = {.colour = palette::grey.faded(0.8), .width = 1.0};
  panel.curves.push_back(std::move(path));
  const auto add = [&](const std::string& label, const std::vector<std::size_t>& rows,
                       const CurveStyle& style) {
    Curve curve = points_of(*steps, rows);
    curve.label = label;
    curve.style = style;
    panel.curves.push_back(std::move(curve));
  };
  add("start", {0}, {palette::black, Dash::none, Marker::diamond});
  add("accepted, recycled", accepted, {palette::green, Dash::none, Marker::circle});
  add("rejected: the start counts again", rejected,
      {palette::vermilion, Dash::none, Marker::square});
  for (const std::size_t row : all) {
    panel.notes.push_back(
        {steps->number(row, "x"), steps->number(row, "y"), steps->text(row, "step")});
  }
  std::string refused;
  for (const std::size_t row : rejected) {
    refused += (refused.empty() ? "" : ", ") + steps->text(row, "step");
  }
  return {{.name = "trajectory",
           .caption = fmt::format(
               "One iteration of recycled HMC on a banana-shaped density. The numbers count the "
               "leapfrog steps from the start, 0; each state is accepted or rejected by itself "
               "against the start ({}). Contours hold 10, 30, 50, 70, 90 and 99% of the mass.",
               refused.empty() ? "here none is rejected" : "rejected: " + refused),
           .panels = {std::move(panel)},
           .columns = 1,
           .plot_height = 380.0}};
}

std::vector<Figure> gain_figures(Results& results, const std::string& target,
                                 const std::string& kernel) {
  const std::optional<Table> table = results.find(target + "-" + kernel);
  if (!table || table->rows() == 0) return {};
  const double error = middle_of(table->numbers("mean_log2_error"));
  return {
      {.name = target + "-" + kernel,
       .caption = fmt::format(
           "{}, {}: recycling all states against the plain chain, {} parameters. Left: log₂ "
           "ratio of ESS; above zero recycling is better. The standard error of one parameter's "
           "ratio is about {:.2f}. Right: ESS per iteration, each curve "
           "sorted by itself, so that its left end is the worst parameter.{}",
           name_of_case(target), name_of_kernel(kernel, target), table->rows(), error,
           grouping_note(table->rows())),
       .panels = {gain_panel(*table), size_panel(*table)}}};
}

std::vector<Figure> component_figures(Results& results) {
  const std::optional<Table> table = results.find("components");
  if (!table || table->rows() == 0) return {};
  return {{.name = "components",
           .caption =
               "The leading principal component of the Gaussian against the length of the chain. "
               "Left: log₂ ratio of ESS for its direction (the angle to the plane of the true "
               "leading components) and its eigenvalue. Right: the angle itself.",
           .panels = {component_panel(*table), angle_panel(*table)}}};
}

std::vector<Figure> tuning_figures(Results& results, const std::string& target) {
  const std::optional<Table> summary = results.find("tuning");
  if (!summary) return {};
  Figure figure{.name = "tuning-" + target, .caption = "", .panels = {}};
  std::size_t parameters = 0;
  for (const std::string& adapt : texts_of(*summary, "adapt")) {
    if (rows_where(*summary, {{"case", target}, {"adapt", adapt}}).empty()) continue;
    const std::optional<Table> table = results.find(fmt::format("tuning-{}-{}", target, adapt));
    if (!table || table->rows() == 0) continue;
    parameters = table->rows();
    const std::vector<std::size_t> order = order_of(table->numbers("mean_log2"));
    std::vector<Curve> curves;
    for (const std::string statistic : shown_statistics) {
      curves.push_back(over_parameters(name_of_statistic(statistic),
                                       table->numbers(column(statistic, "log2")), order,
                                       style_of_statistic(statistic)));
    }
    figure.panels.push_back(ratio_panel(adapt + " iterations of tuning",
                                        "parameters, sorted by the ratio of the mean",
                                        std::move(curves)));
  }
  Panel average{.title = "Average over parameters",
                .x = {"iterations of tuning", AxisScale::log10},
                .y = {ratio_label},
                .curves = {},
                .guides = {0.0},
                .shows_factors = true};
  for (const std::string statistic : shown_statistics) {
    const auto rows = rows_where(*summary, {{"case", target}, {"statistic", statistic}});
    if (rows.empty()) continue;
    Curve curve = through_rows(*summary, rows, "adapt", "log2", "log2_error");
    curve.label = name_of_statistic(statistic);
    curve.style = style_of_statistic(statistic);
    curve.style.marker = Marker::circle;
    average.curves.push_back(std::move(curve));
  }
  if (average.curves.empty()) return {};
  figure.panels.push_back(std::move(average));
  figure.columns = figure.panels.size() == 3 ? 3 : 2;
  figure.caption = fmt::format(
      "{}: log₂ ratio of the ESS of plain NUTS, 10⁴ gradients long, with the mass matrix estimated "
      "with recycling against without.{}",
      name_of_case(target), grouping_note(parameters));
  return {std::move(figure)};
}

std::vector<Figure> count_figures(Results& results) {
  std::vector<Figure> figures;
  for (const std::string target : shown_cases) {
    Figure figure{.name = "counts-" + target, .caption = "", .panels = {}};
    std::size_t parameters = 0;
    for (const std::string kernel : {"hmc", "nuts-slice"}) {
      const std::optional<Table> table = results.find(fmt::format("counts-{}-{}", target, kernel));
      if (!table || table->rows() == 0) continue;
      parameters = table->rows();
      figure.panels.push_back(counts_panel(*table, name_of_kernel(kernel, target)));
    }
    if (figure.panels.empty()) continue;
    figure.caption = fmt::format(
        "{}: gain in the ESS of the 97.5% quantile with K states per iteration, of which one is "
        "the next state of the chain and K − 1 are recycled.{}",
        name_of_case(target),
        parameters > most_groups ? " Lines: medians of groups of neighbouring parameters." : "");
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<Figure> family_figures(Results& results) {
  std::vector<Figure> figures;
  const std::optional<Table> counts = results.find("counts");
  if (!counts) return figures;
  for (const std::string target : shown_cases) {
    Figure figure{.name = "families-" + target,
                  .caption = fmt::format(
                      "{}: average gain in the ESS of the 97.5% quantile against the number of "
                      "states per iteration, by the rule that picks them. Bars, where they are "
                      "larger than the markers: one standard error.",
                      name_of_case(target)),
                  .panels = {},
                  .columns = 3};
    for (const std::string kernel : shown_kernels) {
      Panel panel = family_panel(*counts, target, kernel);
      if (!panel.curves.empty()) figure.panels.push_back(std::move(panel));
    }
    if (!figure.panels.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<Figure> length_figures(Results& results) {
  std::vector<Figure> figures;
  if (const std::optional<Table> lengths = results.find("lengths")) {
    Figure figure{.name = "lengths",
                  .caption =
                      "Average gain from recycling against the length of the chain. Bars: one "
                      "standard error.",
                  .panels = {}};
    for (const std::string target : shown_cases) {
      Panel panel = length_panel(*lengths, target);
      if (!panel.curves.empty()) figure.panels.push_back(std::move(panel));
    }
    if (!figure.panels.empty()) figures.push_back(std::move(figure));
  }
  for (const std::string target : shown_cases) {
    Figure figure{.name = "lengths-" + target, .caption = "", .panels = {}};
    std::size_t parameters = 0;
    for (const std::string kernel : {"hmc", "nuts-slice"}) {
      const std::optional<Table> table = results.find(target + "-" + kernel);
      if (!table || table->rows() == 0) continue;
      parameters = table->rows();
      figure.panels.push_back(short_chain_panel(*table, name_of_kernel(kernel, target)));
    }
    if (figure.panels.empty()) continue;
    figure.caption = fmt::format("{}: log₂ ratios of ESS from chains of full and of 1/32 length.{}",
                                 name_of_case(target), grouping_note(parameters));
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<Figure> multinomial_figures(Results& results) {
  std::vector<Figure> figures;
  const std::optional<Table> settings = results.find("settings");
  if (!settings) return figures;
  for (const std::string target : shown_cases) {
    const std::optional<Table> multinomial = results.find(target + "-nuts");
    const std::optional<Table> slice = results.find(target + "-nuts-slice");
    const auto one = leapfrogs_of(*settings, target, "nuts");
    const auto other = leapfrogs_of(*settings, target, "nuts-slice");
    if (!multinomial || !slice || !one || !other || multinomial->rows() == 0) continue;
    figures.push_back(
        {.name = "multinomial-" + target,
         .caption = fmt::format(
             "{}: multinomial against slice NUTS. Above zero the multinomial kernel gives more ESS "
             "for a gradient.{}",
             name_of_case(target), grouping_note(multinomial->rows())),
         .panels = {
             duel_panel(*multinomial, *slice, *one / *other, "plain", "Plain chains"),
             duel_panel(*multinomial, *slice, *one / *other, "recycled", "All states recycled")}});
  }
  return figures;
}

std::vector<Figure> sharpening_figures(Results& results) {
  std::vector<Figure> figures;
  for (const std::string target : shown_cases) {
    const std::optional<Table> table = results.find("sharpening-" + target);
    if (!table || table->rows() == 0) continue;
    Figure figure{
        .name = "sharpening-" + target,
        .caption = fmt::format(
            "{}: log₂ of how many times as many plain draws would give the same variance, "
            "for recycled estimates and for those that use the gradients as well. The "
            "plain chain is the line at zero.{}",
            name_of_case(target), grouping_note(table->rows())),
        .panels = {},
        .columns = 3};
    for (const std::string statistic : {"mean", "sd", "q97.5"}) {
      const std::vector<double> recycled = table->numbers(column(statistic, "recycled"));
      const std::vector<std::size_t> order = order_of(recycled);
      Panel panel = ratio_panel(
          name_of_statistic(statistic), "parameters, by the recycled gain",
          {over_parameters("recycled", recycled, order, {.colour = palette::blue}),
           over_parameters("recycled and sharpened", table->numbers(column(statistic, "sharpened")),
                           order, {.colour = palette::vermilion})});
      panel.y.label = "log₂ gain over the plain chain";
      figure.panels.push_back(std::move(panel));
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace rehmc::experiments
