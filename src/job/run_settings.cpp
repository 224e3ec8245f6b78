// Checks settings; choices by name, and patterns of parameter names.
#include "rehmc/job/run_settings.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "rehmc/core/error.hpp"
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
  for (const auto& [text, kind] : choices) {
    if (text == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw ConfigError(fmt::format("{}: found '{}', expected one of {}", setting, name, known));
}

template <class Choices, class Kind>
std::string_view name_of(const Choices& choices, Kind kind) {
  for (const auto& [text, k] : choices) {
    if (k == kind) return text;
  }
  return "unknown";
}

bool fits(const std::string& pattern, const std::string& name) {
  const auto matches = [&](const std::string& p) {
    return fnmatch(p.c_str(), name.c_str(), 0) == 0;
  };
  return matches(pattern) || matches(pattern + ".*");
}

/// Marks the names that match any of the patterns.
std::vector<bool> fitted(const std::vector<std::string>& names, std::string_view setting,
                         const std::vector<std::string>& patterns) {
  std::vector<bool> marks(names.size(), false);
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!fits(pattern, names[i])) continue;
      marks[i] = any = true;
    }
    if (any) continue;
    std::string some = names.front();
    for (std::size_t i = 1; i < std::min<std::size_t>(names.size(), 5); ++i)
      some += ", " + names[i];
    throw ConfigError(fmt::format("{}: '{}' matches no parameter; the model has {}{}", setting,
                                  pattern, some, names.size() > 5 ? ", ..." : ""));
  }
  return marks;
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
  if (!store_draws && !until.empty()) {
    throw ConfigError("until: the conditions need stored draws; leave out --no-draws, or --until");
  }
  if (!store_draws && save_warmup) {
    throw ConfigError("save-warmup: there is nothing to save with --no-draws");
  }
  if (!store_draws && !(log_lik.empty() && predictive.empty())) {
    throw ConfigError(
        "log-lik and predictive need stored draws; leave out --no-draws, or these options");
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
  const std::vector<bool> saved = settings.save.empty() ? std::vector<bool>(names.size(), true)
                                                        : fitted(names, "save", settings.save);
  const std::vector<bool> dropped = fitted(names, "drop", settings.drop);
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
