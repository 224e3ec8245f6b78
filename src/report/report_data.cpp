// Chooses and thins what the report shows of a run, in bounded size, and writes it as JSON.
#include "report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string_view>

#include "density_curve.hpp"
#include "rehmc/core/error.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;

// The bounds of the page. Together they keep the data below 5 MB even if every character of every
// name needs six bytes.
constexpr std::size_t most_rows = 5000;        // of the table
constexpr std::size_t most_name_bytes = 80;    // of a parameter's name
constexpr std::size_t most_text_bytes = 8000;  // of a command or a warning
constexpr std::size_t most_settings = 300;
constexpr std::size_t most_plotted = 40;         // parameters that can be looked at one by one
constexpr std::size_t most_chains = 12;          // that are told apart in plots
constexpr std::size_t most_points = 4000;        // draws in traces and pairs
constexpr std::size_t most_divergences = 500;    // shown beyond those
constexpr std::size_t most_curve_draws = 40000;  // that densities and ranks are made of
constexpr std::size_t most_spark_draws = 2000;   // the same for the sparklines of all parameters
constexpr std::size_t most_traced = 2000;        // states of the trajectory
constexpr std::size_t curve_points = 128;
constexpr std::size_t spark_points = 32;
constexpr std::size_t rank_bins = 20;
constexpr int quantum = 99999;  // plotted values are whole parts of their range

/// JSON knows no NaN and no infinity.
Json number(double x, int digits = 6) {
  if (!std::isfinite(x)) return nullptr;
  const std::string text = fmt::format("{:.{}g}", x, digits);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

Json numbers(std::span<const double> values, int digits = 6) {
  Json array = Json::array();
  for (const double x : values) array.push_back(number(x, digits));
  return array;
}

/// At most this many bytes, without half a character at the end.
std::string shortened(const std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  std::size_t end = most_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "\u2026";
}

/// Every n-th of `count` things, such that at most `most` are left.
std::size_t stride_for(std::size_t count, std::size_t most) {
  return std::max<std::size_t>(1, (count + most - 1) / most);
}

std::size_t total_draws(const SampleResult& result) {
  std::size_t draws = 0;
  for (const ChainResult& chain : result.chains) draws += chain.record.size();
  return draws;
}

double value_at(const ChainRecord& record, std::size_t draw, std::size_t parameter) {
  return record.draws[draw * record.dimension() + parameter];
}

bool diverged(const ChainRecord& record, std::size_t draw) {
  return draw < record.ending.size() && record.ending[draw] == Ending::diverged;
}

/// Every stride-th draw of one parameter, all chains in a row.
std::vector<double> draws_of(const SampleResult& result, std::size_t parameter,
                             std::size_t stride) {
  std::vector<double> values;
  for (const ChainResult& chain : result.chains) {
    for (std::size_t i = 0; i < chain.record.size(); i += stride) {
      values.push_back(value_at(chain.record, i, parameter));
    }
  }
  return values;
}

// --- What is shown -----------------------------------------------------------------------------

struct Point {
  std::size_t chain = 0;
  std::size_t draw = 0;
  bool divergent = false;
};

/// The draws that traces and pairs show: a regular sample, chain by chain, then divergent draws
/// that it passed over.
struct Points {
  std::vector<Point> points;
  std::size_t regular = 0;
  std::size_t stride = 1;
  std::size_t divergences = 0;  ///< among the points
};

Points choose_points(const SampleResult& result) {
  Points chosen;
  const std::size_t chains = std::min(result.chains.size(), most_chains);
  std::size_t available = 0;
  for (std::size_t c = 0; c < chains; ++c) available += result.chains[c].record.size();
  chosen.stride = stride_for(available, most_points);
  for (std::size_t c = 0; c < chains; ++c) {
    const ChainRecord& record = result.chains[c].record;
    for (std::size_t i = 0; i < record.size(); i += chosen.stride) {
      chosen.points.push_back({c, i, diverged(record, i)});
    }
  }
  chosen.regular = chosen.points.size();
  std::vector<Point> missed;
  for (std::size_t c = 0; c < result.chains.size(); ++c) {
    const ChainRecord& record = result.chains[c].record;
    for (std::size_t i = 0; i < record.size(); ++i) {
      const bool among_regular = c < chains && i % chosen.stride == 0;
      if (!among_regular && diverged(record, i)) missed.push_back({c, i, true});
    }
  }
  const std::size_t skip = stride_for(missed.size(), most_divergences);
  for (std::size_t i = 0; i < missed.size(); i += skip) chosen.points.push_back(missed[i]);
  chosen.divergences = static_cast<std::size_t>(std::count_if(
      chosen.points.begin(), chosen.points.end(), [](const Point& p) { return p.divergent; }));
  return chosen;
}

/// Small for parameters that are known badly; what cannot be judged comes first.
double soundness(const ParameterSummary& row) {
  if (row.plain.condition == DrawsCondition::constant) {
    return std::numeric_limits<double>::infinity();  // nothing to know
  }
  const Convergence& convergence = row.convergence;
  const bool judged = std::isfinite(convergence.ess_bulk) && std::isfinite(convergence.ess_tail) &&
                      std::isfinite(convergence.rhat);
  return judged ? std::min(convergence.ess_bulk, convergence.ess_tail) : -1;
}

struct Spread {
  double mean = 0;
  double sd = 0;
};

Spread spread_of(std::span<const double> values) {
  Spread spread;
  const auto n = static_cast<double>(values.size());
  for (const double x : values) spread.mean += x / n;
  for (const double x : values) spread.sd += (x - spread.mean) * (x - spread.mean) / n;
  spread.sd = std::sqrt(spread.sd);
  return spread;
}

/// How far divergent draws of a parameter lie from the others: by shift and by change of scale.
double involvement(const SampleResult& result, const Points& points, std::size_t parameter) {
  std::vector<double> divergent;
  std::vector<double> ordinary;
  for (const Point& point : points.points) {
    const double x = value_at(result.chains[point.chain].record, point.draw, parameter);
    (point.divergent ? divergent : ordinary).push_back(x);
  }
  const Spread there = spread_of(divergent);
  const Spread elsewhere = spread_of(ordinary);
  const double shift = std::abs(there.mean - elsewhere.mean) / elsewhere.sd;
  const double scale =
      divergent.size() < 3 ? 0 : std::min(2.0, std::abs(std::log(there.sd / elsewhere.sd)));
  const double score = shift + scale;
  return std::isfinite(score) ? score : 0;
}

struct Choice {
  std::vector<std::size_t> rows;     ///< of the table, in order
  std::vector<std::size_t> plotted;  ///< a subset of them, in order
  std::vector<std::size_t> pair;     ///< what the pairs plot shows first; empty for one parameter
};

/// The first, the worst, and those where divergences gather, in turn, until there are enough.
std::vector<std::size_t> first_of_each(const std::vector<std::vector<std::size_t>>& orders,
                                       std::size_t count, std::size_t dimension) {
  std::vector<bool> taken(dimension, false);
  std::size_t number_taken = 0;
  for (std::size_t i = 0; i < dimension && number_taken < count; ++i) {
    for (const auto& order : orders) {
      if (number_taken < count && !taken[order[i]]) {
        taken[order[i]] = true;
        ++number_taken;
      }
    }
  }
  std::vector<std::size_t> chosen;
  for (std::size_t p = 0; p < dimension; ++p) {
    if (taken[p]) chosen.push_back(p);
  }
  return chosen;
}

Choice choose_parameters(const SampleResult& result, const std::vector<ParameterSummary>& summary,
                         const Points& points) {
  const std::size_t dimension = summary.size();
  std::vector<std::size_t> first(dimension);
  std::iota(first.begin(), first.end(), std::size_t{0});
  const auto sorted_by = [&](const std::vector<double>& key) {
    std::vector<std::size_t> order = first;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
    return order;
  };
  std::vector<double> key(dimension);
  std::transform(summary.begin(), summary.end(), key.begin(), soundness);
  std::vector<std::vector<std::size_t>> orders{first, sorted_by(key)};
  if (points.divergences > 0) {
    for (const std::size_t p : first) key[p] = -involvement(result, points, p);
    orders.push_back(sorted_by(key));
  }
  Choice choice;
  choice.rows = first_of_each(orders, most_rows, dimension);
  if (points.points.empty()) return choice;  // a run that kept its summary only
  choice.plotted = first_of_each(orders, most_plotted, dimension);
  if (dimension > 1) choice.pair = {orders.back()[0], orders.back()[1]};
  return choice;
}

// --- The table ---------------------------------------------------------------------------------

const QuantileEstimate* quantile_at(const Estimate& estimate, double probability) {
  for (const QuantileEstimate& quantile : estimate.quantiles) {
    if (std::abs(quantile.probability - probability) < 1e-9) return &quantile;
  }
  return nullptr;
}

Json quantiles_of(const Estimate& estimate) {
  Json values = Json::array();
  for (const double p : standard_probabilities) {
    const QuantileEstimate* quantile = quantile_at(estimate, p);
    values.push_back(quantile == nullptr ? Json(nullptr) : number(quantile->value));
  }
  return values;
}

/// How many times as many plain draws would be as exact, for mean, sd and 97.5% quantile. Mean and
/// sd go by their MCSEs, since their ESS is defined in another way for recycled states; the MCSE of
/// a plain quantile is too noisy for that, but its ESS is defined alike.
Json gains_of(const Estimate& plain, const Estimate& better) {
  const auto by_error = [](double before, double after) {
    return number(std::pow(before / after, 2), 4);
  };
  const QuantileEstimate* before = quantile_at(plain, 0.975);
  const QuantileEstimate* after = quantile_at(better, 0.975);
  const bool both = before != nullptr && after != nullptr;
  return {by_error(plain.mcse_mean, better.mcse_mean), by_error(plain.mcse_sd, better.mcse_sd),
          both ? number(after->ess / before->ess, 4) : Json(nullptr)};
}

/// A density as a string: heights from 0 to z.
std::string sparkline(const SampleResult& result, std::size_t parameter, std::size_t stride) {
  const std::vector<double> values = draws_of(result, parameter, stride);
  const auto grid = density_grid(values, spark_points);
  if (!grid) return {};
  const std::vector<double> curve = density_curve(*grid, values);
  const double top = *std::max_element(curve.begin(), curve.end());
  std::string heights;
  for (const double height : curve) {
    constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
    heights += top > 0 ? digits[static_cast<std::size_t>(std::lround(35 * height / top))] : '0';
  }
  return heights;
}

Json table_row(const SampleResult& result, const ParameterSummary& row, std::size_t parameter,
               std::size_t spark_stride) {
  constexpr int location_digits = 9;  // the page rounds these by their error
  Json json;
  json["name"] = shortened(row.name, most_name_bytes);
  json["plain"] = {number(row.plain.mean, location_digits), number(row.plain.mcse_mean, 4),
                   number(row.plain.sd)};
  json["quantiles"] = quantiles_of(row.plain);
  json["convergence"] = {number(row.convergence.ess_bulk, 5), number(row.convergence.ess_tail, 5),
                         number(row.convergence.rhat)};
  if (row.recycled) {
    json["recycled"] = {number(row.recycled->mean, location_digits),
                        number(row.recycled->mcse_mean, 4), number(row.recycled->ess_mean, 5)};
    json["gain"] = gains_of(row.plain, *row.recycled);
  }
  if (row.sharpened) {
    const Estimate& sharpened = row.sharpened->estimate;
    const QuantileEstimate* tail = quantile_at(sharpened, 0.975);
    json["sharpened"] = {number(sharpened.mean, location_digits), number(sharpened.mcse_mean, 4),
                         number(sharpened.ess_mean, 5), number(sharpened.ess_sd, 5),
                         tail == nullptr ? Json(nullptr) : number(tail->ess, 5)};
    json["sharpened_gain"] = gains_of(row.plain, sharpened);
  } else if (!row.not_sharpened.empty()) {
    json["not_sharpened"] = row.not_sharpened;
  }
  if (const std::string spark = sparkline(result, parameter, spark_stride); !spark.empty()) {
    json["spark"] = spark;
  }
  return json;
}

// --- One parameter -----------------------------------------------------------------------------

/// Values and errors of mean, sd and quantiles.
Json estimate_json(const Estimate& estimate) {
  constexpr int digits = 9;  // the page rounds by the error
  Json pairs{{number(estimate.mean, digits), number(estimate.mcse_mean, 3)},
             {number(estimate.sd, digits), number(estimate.mcse_sd, 3)}};
  for (const double p : standard_probabilities) {
    const QuantileEstimate* quantile = quantile_at(estimate, p);
    pairs.push_back(quantile == nullptr
                        ? Json{nullptr, nullptr}
                        : Json{number(quantile->value, digits), number(quantile->mcse, 3)});
  }
  return pairs;
}

/// All summaries of a parameter, and the features that each was sharpened by.
Json estimates_json(const ParameterSummary& row) {
  Json json{{"plain", estimate_json(row.plain)}};
  if (row.recycled) json["recycled"] = estimate_json(*row.recycled);
  if (row.sharpened) {
    json["sharpened"] = estimate_json(row.sharpened->estimate);
    Json features{describe(row.sharpened->mean_set), describe(row.sharpened->sd_set)};
    for (const FeatureSet set : row.sharpened->quantile_sets) features.push_back(describe(set));
    json["features"] = std::move(features);
  }
  return json;
}

/// The values of all points, as whole parts of their range.
Json quantised(const SampleResult& result, const Points& points, std::size_t parameter) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  std::vector<double> values;
  for (const Point& point : points.points) {
    const double x = value_at(result.chains[point.chain].record, point.draw, parameter);
    values.push_back(x);
    if (std::isfinite(x)) {
      least = std::min(least, x);
      most = std::max(most, x);
    }
  }
  Json parts = Json::array();
  for (const double x : values) {
    if (!std::isfinite(x)) {
      parts.push_back(nullptr);
    } else {
      const double share = most > least ? x / (most - least) - least / (most - least) : 0;
      parts.push_back(std::isfinite(share) ? static_cast<int>(std::lround(share * quantum)) : 0);
    }
  }
  return {{"least", number(least, 12)}, {"most", number(most, 12)}, {"parts", std::move(parts)}};
}

/// For each chain that is shown, how many of its draws have their rank among all draws in each bin.
/// Equal draws share the mean of their ranks.
Json rank_histograms(const SampleResult& result, std::size_t parameter, std::size_t stride) {
  struct Entry {
    double value;
    std::size_t chain;
  };
  std::vector<Entry> entries;
  for (std::size_t c = 0; c < result.chains.size(); ++c) {
    const ChainRecord& record = result.chains[c].record;
    for (std::size_t i = 0; i < record.size(); i += stride) {
      const double x = value_at(record, i, parameter);
      if (!std::isnan(x)) entries.push_back({x, c});
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.value < b.value; });
  std::vector<std::vector<int>> counts(std::min(result.chains.size(), most_chains),
                                       std::vector<int>(rank_bins, 0));
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin + 1;
    while (end < entries.size() && entries[end].value == entries[begin].value) ++end;
    const std::size_t bin = (begin + end - 1) * rank_bins / (2 * entries.size());
    for (; begin < end; ++begin) {
      if (entries[begin].chain < counts.size()) ++counts[entries[begin].chain][bin];
    }
  }
  return counts;
}

struct WeightedValues {
  std::vector<double> values;
  std::vector<double> weights;
};

WeightedValues kept_values(const SampleResult& result, std::size_t parameter, std::size_t stride) {
  WeightedValues kept;
  for (const ChainResult& chain : result.chains) {
    const ChainRecord& record = chain.record;
    for (std::size_t i = 0; i < record.kept_end.size(); i += stride) {
      const double mass = i < record.mass.size() ? record.mass[i] : 1;
      for (std::size_t k = record.kept_begin(i); k < record.kept_begin(i + 1); ++k) {
        kept.values.push_back(record.kept[k * record.dimension() + parameter]);
        kept.weights.push_back(mass * record.kept_weight[k]);
      }
    }
  }
  return kept;
}

/// Both curves have one bandwidth, so that they differ by the states alone.
Json densities(const SampleResult& result, std::size_t parameter, bool recycled,
               std::size_t stride) {
  const std::vector<double> values = draws_of(result, parameter, stride);
  const auto grid = density_grid(values, curve_points);
  if (!grid) return nullptr;
  Json json{{"least", number(grid->least, 12)},
            {"most", number(grid->most, 12)},
            {"plain", numbers(density_curve(*grid, values), 4)}};
  const WeightedValues kept = recycled ? kept_values(result, parameter, stride) : WeightedValues{};
  if (!kept.values.empty()) {
    json["recycled"] = numbers(density_curve(*grid, kept.values, kept.weights), 4);
  }
  return json;
}

// --- The whole run -----------------------------------------------------------------------------

/// Energies about their chain's mean, and their changes from draw to draw, on one grid.
Json energies(const SampleResult& result, std::size_t stride) {
  std::vector<double> marginal;
  std::vector<double> change;
  for (const ChainResult& chain : result.chains) {
    const std::vector<double>& energy = chain.record.energy;
    const double mean = spread_of(energy).mean;
    for (std::size_t i = 0; i < energy.size(); i += stride) {
      marginal.push_back(energy[i] - mean);
      if (i > 0) change.push_back(energy[i] - energy[i - 1]);
    }
  }
  std::vector<double> both = marginal;
  both.insert(both.end(), change.begin(), change.end());
  const auto grid = density_grid(std::move(both), curve_points);
  if (!grid) return nullptr;
  return {{"least", number(grid->least)},
          {"most", number(grid->most)},
          {"marginal", numbers(density_curve(*grid, marginal), 4)},
          {"change", numbers(density_curve(*grid, change), 4)}};
}

Json points_json(const Points& points) {
  Json chain = Json::array();
  Json draw = Json::array();
  Json divergent = Json::array();
  for (std::size_t i = 0; i < points.points.size(); ++i) {
    chain.push_back(points.points[i].chain);
    draw.push_back(points.points[i].draw);
    if (points.points[i].divergent) divergent.push_back(i);
  }
  return {{"regular", points.regular},
          {"stride", points.stride},
          {"chain", std::move(chain)},
          {"draw", std::move(draw)},
          {"divergent", std::move(divergent)}};
}

Json trajectory_json(const TracedTrajectory& trajectory) {
  const std::size_t stride = stride_for(trajectory.states.size(), most_traced);
  Json states = Json::array();
  for (std::size_t i = 0; i < trajectory.states.size(); ++i) {
    const TracedState& state = trajectory.states[i];
    if (i % stride != 0 && i != trajectory.start && !state.selected) continue;
    Json shown{{"x", number(state.x)}, {"y", number(state.y)}, {"weight", number(state.weight, 4)}};
    if (state.slots > 0) shown["slots"] = state.slots;
    if (state.dropped) shown["dropped"] = true;
    if (state.selected) shown["selected"] = true;
    if (i == trajectory.start) shown["start"] = true;
    states.push_back(std::move(shown));
  }
  return {{"length", trajectory.states.size()}, {"states", std::move(states)}};
}

Json diagnostics_json(const Diagnostics& diagnostics) {
  Json warnings = Json::array();
  for (const Warning& warning : diagnostics.warnings) {
    warnings.push_back(
        {{"kind", warning.kind}, {"text", shortened(warning.text, most_text_bytes)}});
  }
  const std::span<const double> ebfmi(diagnostics.ebfmi);
  return {{"divergences", diagnostics.divergences},
          {"depth_limit_hits", diagnostics.depth_limit_hits},
          {"ebfmi", numbers(ebfmi.first(std::min(ebfmi.size(), most_chains)), 3)},
          {"gradients_warmup", diagnostics.gradients_warmup},
          {"gradients_sampling", diagnostics.gradients_sampling},
          {"seconds_warmup", number(diagnostics.seconds_warmup)},
          {"seconds_sampling", number(diagnostics.seconds_sampling)},
          {"warnings", std::move(warnings)}};
}

/// What the gradients told; null for a run without them.
Json gradients_json(const Sharpening& sharpening) {
  Json json;
  if (sharpening.check) {
    const SteinCheck& check = *sharpening.check;
    json["stein"] = {{"passed", check.passed()},
                     {"worst", number(check.worst, 4)},
                     {"limit", number(check.limit, 4)},
                     {"features", check.features},
                     {"parameter", shortened(sharpening.worst_name, most_name_bytes)}};
  }
  if (sharpening.spot_check.directions > 0) {
    json["spot"] = {{"passed", sharpening.spot_check.passed},
                    {"where", shortened(sharpening.spot_check.where, most_name_bytes)},
                    {"model", number(sharpening.spot_check.analytic)},
                    {"differences", number(sharpening.spot_check.numeric)}};
  }
  if (!sharpening.refused.empty()) json["refused"] = shortened(sharpening.refused, most_text_bytes);
  return json;
}

Json settings_json(const std::string& text) {
  if (text.empty()) return Json::array();
  const Json settings = Json::parse(text, nullptr, false);
  if (!settings.is_object()) {
    throw ConfigError("ReportInfo::settings_json is '" + shortened(text, 100) +
                      "'; it should be a JSON object, name: value");
  }
  Json pairs = Json::array();
  for (const auto& [name, value] : settings.items()) {
    if (pairs.size() == most_settings) break;
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    pairs.push_back({shortened(name, most_name_bytes), shortened(shown, 1000)});
  }
  return pairs;
}

/// What was passed over; none of these numbers is there if nothing was.
Json omissions(const SampleResult& result, const Choice& choice, const Points& points,
               const Diagnostics& diagnostics) {
  Json json = Json::object();
  const auto note = [&](const char* name, std::size_t all, std::size_t shown) {
    if (shown < all) json[name] = {shown, all};
  };
  note("rows", result.names.size(), choice.rows.size());
  if (!points.points.empty()) note("plotted", result.names.size(), choice.plotted.size());
  note("chains", result.chains.size(), most_chains);
  note("divergences", diagnostics.divergences, points.divergences);
  return json;
}

/// Inside of a script element `</script` would end it, and `<!--` change how it is read.
std::string safe_in_script(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string report_data(const SampleResult& result, const RunSummary& run, const ReportInfo& info) {
  const std::vector<ParameterSummary>& summary = run.parameters;
  const std::size_t draws = total_draws(result);
  const Points points = choose_points(result);
  const Choice choice = choose_parameters(result, summary, points);
  const std::size_t curve_stride = stride_for(draws, most_curve_draws);
  const std::size_t spark_stride = stride_for(draws, most_spark_draws);

  Json json;
  json["version"] = info.version;
  json["date"] = info.date;
  json["command"] = shortened(info.command, most_text_bytes);
  json["seed"] = std::to_string(result.seed);  // JavaScript's numbers would round it
  json["kernel"] = describe(result.kernel.kind);
  json["recycling"] = describe(result.kernel.recycling);
  json["dimension"] = result.names.size();
  json["chains"] = result.chains.size();
  json["draws"] = draws;
  json["short"] =
      !summary.empty() && summary[0].convergence.check.condition == DrawsCondition::too_short;
  json["settings"] = settings_json(info.settings_json);
  json["diagnostics"] = diagnostics_json(run.diagnostics);
  json["gradients"] = gradients_json(run.sharpening);
  json["omitted"] = omissions(result, choice, points, run.diagnostics);
  json["curve_stride"] = curve_stride;
  json["quantum"] = quantum;
  json["points"] = points_json(points);
  json["pair"] = choice.pair;

  Json rows = Json::array();
  auto next_plotted = choice.plotted.begin();
  for (const std::size_t p : choice.rows) {
    Json row = table_row(result, summary[p], p, spark_stride);
    row["index"] = p;
    if (next_plotted != choice.plotted.end() && *next_plotted == p) {
      ++next_plotted;
      row["values"] = quantised(result, points, p);
      row["ranks"] = rank_histograms(result, p, curve_stride);
      row["density"] = densities(result, p, summary[p].recycled.has_value(), curve_stride);
      row["estimates"] = estimates_json(summary[p]);
    }
    rows.push_back(std::move(row));
  }
  json["parameters"] = std::move(rows);
  json["energy"] = energies(result, curve_stride);
  json["trajectory"] = trajectory_json(info.trajectory);
  return safe_in_script(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace rehmc
