// Checks settings; choices by name, and patterns of parameter names.
#include "rehmc/job/run_settings.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/stan_name.hpp"
#include "rehmc/core/suggest.hpp"
#include "rehmc/job/until.hpp"

namespace rehmc {

namespace {

template <class Kind>
using Choice = std::pair<std::string_view, Kind>;

// The first of each stands for a choice among the others.
constexpr std::array<Choice<std::optional<MetricKind>>, 5> metrics{
    {{"auto", std::nullopt},
     {"diag", MetricKind::diagonal},
     {"dense", MetricKind::dense},
     {"low-rank", MetricKind::low_rank},
     {"unit", MetricKind::unit}}};
constexpr std::array<Choice<std::optional<StartKind>>, 3> starts{
    {{"auto", std::nullopt}, {"random", StartKind::random}, {"pathfinder", StartKind::pathfinder}}};
constexpr std::array<Choice<MetricSource>, 2> metric_sources{
    {{"recycled", MetricSource::recycled}, {"draws", MetricSource::draws}}};

template <class Choices>
auto parse(std::string_view setting, std::string_view name, const Choices& choices) {
  std::string known;
  std::vector<std::string> names;
  for (const auto& [text, kind] : choices) {
    if (text == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(text);
    names.emplace_back(text);
  }
  throw ConfigError(fmt::format("{}: found '{}', expected one of {}{}", setting, name, known,
                                did_you_mean(name, names)));
}

template <class Choices, class Kind>
std::string_view name_of(const Choices& choices, Kind kind) {
  for (const auto& [text, k] : choices) {
    if (k == kind) return text;
  }
  return "unknown";
}

}  // namespace

std::optional<MetricKind> parse_metric(std::string_view name) {
  return parse("metric", name, metrics);
}
std::string_view metric_name(std::optional<MetricKind> kind) { return name_of(metrics, kind); }
std::optional<StartKind> parse_start(std::string_view name) { return parse("start", name, starts); }
std::string_view start_name(std::optional<StartKind> kind) { return name_of(starts, kind); }
MetricSource parse_metric_source(std::string_view name) {
  return parse("metric-from", name, metric_sources);
}
std::string_view metric_source_name(MetricSource source) { return name_of(metric_sources, source); }

void RunSettings::check() const {
  sample.check();
  check_settings(*this);
  if (!until.empty()) parse_until(until);
  if (first_chain > 1 && sample.start.size() > 1) {
    throw ConfigError("first-chain: cannot be combined with a starting point for each chain");
  }
  if (!store_draws && !until.empty()) {
    throw ConfigError("until: the conditions need stored draws; leave out --no-draws, or --until");
  }
  if (!store_draws && save_warmup) {
    throw ConfigError("save-warmup: there is nothing to save with --no-draws");
  }
  if (!store_draws && !(log_lik.empty() && predictive.empty())) {
    throw ConfigError(
        "log-lik: needs stored draws, as --predictive does; leave out --no-draws, or these "
        "options");
  }
  if (!store_draws && recycled_csv) {
    throw ConfigError("recycled-csv: there is nothing to write with --no-draws");
  }
  if (sample.kernel.recycling.kind == RecyclingKind::none && recycled_csv) {
    throw ConfigError("recycled-csv: recycling none keeps no states; leave out one of the two");
  }
}

std::vector<std::size_t> recorded_columns(const std::vector<std::string>& names,
                                          const RunSettings& settings) {
  const std::vector<bool> saved = settings.save.empty()
                                      ? std::vector<bool>(names.size(), true)
                                      : matched_names(settings.save, names, "save: ");
  const std::vector<bool> dropped = matched_names(settings.drop, names, "drop: ");
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (saved[i] && !dropped[i]) columns.push_back(i);
  }
  if (columns.empty()) throw ConfigError("drop: leaves no parameter to record");
  return columns;
}

std::vector<Quantity> recorded_quantities(const std::vector<Quantity>& all,
                                          const std::vector<std::size_t>& columns) {
  std::vector<Quantity> recorded;
  for (const std::size_t column : columns) recorded.push_back(all[column]);
  return recorded;
}

}  // namespace rehmc
