// All settings of a run, gathered from the rooms that declare them.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rehmc/run/sample.hpp"

namespace rehmc {

/// The settings of a run that writes its output to a folder.
struct RunSettings {
  SampleSettings sample;
  int thin = 1;
  int first_chain = 1;  ///< number of the first chain, which its random numbers depend on
  double checkpoint_seconds = 5;
  bool save_warmup = false;
  bool store_draws = true;      ///< false: running summaries only, in bounded memory
  bool store_gradients = true;  ///< of kept states, so that a stored run can be sharpened later
  bool recycled_csv = false;    ///< also write the quantities of kept states as text
  bool sharpen_all = false;     ///< summarise kept states in all quantities, not parameters alone
  std::vector<std::string> log_lik;     ///< patterns of variables: log likelihoods
  std::vector<std::string> predictive;  ///< likewise: predictions of observations
  std::vector<std::string> save;        ///< patterns of names to record; none for all
  std::vector<std::string> drop;        ///< patterns of names not to record
  std::string until;  ///< when to stop before all draws are taken; see job/until.hpp

  static constexpr auto settings() {
    using S = RunSettings;
    return std::tuple{Setting{"thin", &S::thin, between(1, 1e6),
                              "store only every n-th draw; the estimates still use all states"},
                      Setting{"first_chain", &S::first_chain, between(1, 1e6),
                              "number of the first chain: with Stan's warmup, chain 3 of many "
                              "can be run alone"},
                      Setting{"checkpoint_seconds", &S::checkpoint_seconds, between(0, 1e6),
                              "seconds between checkpoints, from which a run can continue"}};
  }

  /// Throws ConfigError that names the setting, the value and the remedy.
  void check() const;
};

/// Calls `visit(group, setting, owner)` for every number that a room declares as a setting, with
/// the struct that owns it: `owner.*setting.field` is the value.
template <class Visit>
void for_each_setting(RunSettings& settings, Visit&& visit) {
  const auto all_of = [&](std::string_view group, auto& owner) {
    std::apply([&](const auto&... setting) { (visit(group, setting, owner), ...); },
               std::decay_t<decltype(owner)>::settings());
  };
  all_of("run", settings.sample);
  all_of("run", settings);
  all_of("warmup", settings.sample.warmup);
  all_of("step size adaptation", settings.sample.warmup.adapt_step_size);
  all_of("warmup windows", settings.sample.warmup.windows);
  all_of("initial point", settings.sample.initial);
  all_of("nuts", settings.sample.kernel.nuts);
  all_of("hmc", settings.sample.kernel.hmc);
}

// By name; ConfigError lists the names.

/// auto, diag, dense, low-rank, unit.
std::optional<MetricKind> parse_metric(std::string_view name);
std::string_view metric_name(std::optional<MetricKind> kind);
/// auto, random, pathfinder.
std::optional<StartKind> parse_start(std::string_view name);
std::string_view start_name(std::optional<StartKind> kind);
/// recycled, draws.
MetricSource parse_metric_source(std::string_view name);
std::string_view metric_source_name(MetricSource source);

/// The quantities that the patterns select, in order. A pattern is a name or a part of one with `*`
/// and `?`, as in a shell; the name of a vector stands for all its elements. ConfigError for a
/// pattern that matches no name, and if nothing is left.
std::vector<std::size_t> recorded_columns(const std::vector<std::string>& names,
                                          const RunSettings& settings);

/// Those quantities.
std::vector<Quantity> recorded_quantities(const std::vector<Quantity>& all,
                                          const std::vector<std::size_t>& columns);

}  // namespace rehmc
