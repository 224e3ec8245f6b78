// Passes states and gradients of a run to the sharpener, and keeps what can be trusted.
#include "rehmc/summary/sharpening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "record_series.hpp"
#include "rehmc/core/stan_name.hpp"
#include "rehmc/running/running_stein_check.hpp"

namespace rehmc {

namespace {

bool has_gradients(const SampleResult& result) {
  return !result.chains.empty() &&
         std::all_of(result.chains.begin(), result.chains.end(), [](const ChainResult& chain) {
           return chain.record.gradients == KeptGradients::yes &&
                  !chain.record.kept_gradient.empty();
         });
}

/// Views of the records for the sharpener, with the data they need in addition.
class Views {
 public:
  explicit Views(const SampleResult& result) : result_(result) {
    for (const ChainResult& chain : result.chains) begins_.push_back(kept_begins(chain.record));
    for (std::size_t c = 0; c < result.chains.size(); ++c) {
      const ChainRecord& record = result.chains[c].record;
      states_.push_back(
          {record.kept_positions(), record.kept_gradient, record.kept_weight, begins_[c]});
      if (result.kernel.masses_differ()) states_.back().masses = record.mass;
    }
  }

  std::span<const GradientStates> states() const { return states_; }

  void add(std::size_t parameter, const ParameterSummary& row) {
    auto viewed = std::make_unique<Viewed>();
    viewed->values = kept_series(result_, parameter);
    viewed->moments = centred_moments(result_, parameter);
    viewed->first = series_of(viewed->moments.first);
    viewed->second = series_of(viewed->moments.second);
    ScalarStates& scalar = scalars_.emplace_back();
    if (parameter < result_.quantities.size()) {
      scalar.coordinate = result_.quantities[parameter].coordinate;
    }
    scalar.values = viewed->values;
    viewed->plain = drawn_series(result_, parameter);
    scalar.plain = viewed->plain;
    scalar.centre = viewed->moments.centre;
    scalar.first = viewed->first;
    scalar.second = viewed->second;
    scalar.known = row.recycled ? *row.recycled : row.plain;
    viewed_.push_back(std::move(viewed));
  }
  std::span<const ScalarStates> scalars() const { return scalars_; }

 private:
  struct Viewed {
    std::vector<Series> values;
    std::vector<Series> plain;
    CentredMoments moments;
    std::vector<Series> first;
    std::vector<Series> second;
  };

  const SampleResult& result_;
  std::vector<std::vector<std::size_t>> begins_;
  std::vector<GradientStates> states_;
  std::vector<std::unique_ptr<Viewed>> viewed_;  ///< stay where they are
  std::vector<ScalarStates> scalars_;
};

struct DivergentDraws {
  std::size_t draws = 0;
  std::size_t divergent = 0;
};

DivergentDraws divergent_draws(const SampleResult& result) {
  DivergentDraws all;
  for (const ChainResult& chain : result.chains) {
    all.draws += draws_of(chain);
    all.divergent +=
        chain.running ? chain.running->counts().divergences : chain.record.divergences.size();
  }
  return all;
}

/// The limits for R-hat and ESS, for a run of this length and this many parameters.
class Gates {
 public:
  Gates(const SampleResult& result, std::size_t parameters)
      : chains_(result.chains.size()),
        draws_(static_cast<double>(divergent_draws(result).draws)),
        parameters_(parameters) {}

  double most_rhat(const Convergence& convergence) const {
    return most_healthy_rhat(chains_, static_cast<std::size_t>(draws_) / chains_, convergence,
                             parameters_);
  }
  double least_ess() const { return std::min(least_ess_to_sharpen, least_ess_per_draw * draws_); }
  double least_ess_anywhere() const {
    return std::min(least_ess_of_any, least_ess_of_any_per_draw * draws_);
  }

 private:
  std::size_t chains_;
  double draws_;  ///< of all chains together
  std::size_t parameters_;
};

/// Why a parameter's chains are not fit to be sharpened; empty if they are.
std::string unfit(const ParameterSummary& row, const Gates& gates) {
  if (row.plain.condition != DrawsCondition::ordinary)
    return "its draws are constant, stuck, too few or not finite";
  const double most_rhat = gates.most_rhat(row.convergence);
  if (!(row.convergence.rhat <= most_rhat)) {
    return fmt::format("R-hat is {:.3f}, above {:.4g}", row.convergence.rhat, most_rhat);
  }
  if (!(row.convergence.ess_bulk >= gates.least_ess())) {
    return fmt::format("bulk ESS is {:.0f}, below {:.0f}", row.convergence.ess_bulk,
                       gates.least_ess());
  }
  return {};
}

/// Why no parameter of the run may be sharpened, judging by its draws; empty if some may be.
std::string unfit_run(const SampleResult& result, const std::vector<ParameterSummary>& parameters) {
  const auto [draws, divergent] = divergent_draws(result);
  if (draws < least_draws_to_sharpen) {
    return fmt::format("there are {} draws in total, fewer than {}", draws, least_draws_to_sharpen);
  }
  const double share = static_cast<double>(divergent) / static_cast<double>(draws);
  if (share > most_divergent_share) {
    return fmt::format("{} of {} draws diverged, more than {}%", divergent, draws,
                       100 * most_divergent_share);
  }
  const Gates gates(result, parameters.size());
  for (const ParameterSummary& row : parameters) {
    const double most_rhat = std::max(most_rhat_of_any, gates.most_rhat(row.convergence));
    if (row.convergence.rhat > most_rhat) {
      return fmt::format("R-hat of {} is {:.3f}, above {:.4g}", row.name, row.convergence.rhat,
                         most_rhat);
    }
    if (row.convergence.ess_bulk < gates.least_ess_anywhere()) {
      return fmt::format("bulk ESS of {} is {:.0f}, below {:.0f}", row.name,
                         row.convergence.ess_bulk, gates.least_ess_anywhere());
    }
  }
  return {};
}

/// The first that failed, or that of the first chain.
SpotCheck spot_check_of(const SampleResult& result) {
  SpotCheck found;
  for (const ChainResult& chain : result.chains) {
    if (found.directions == 0 || (found.passed && !chain.spot_check.passed)) {
      found = chain.spot_check;
    }
  }
  return found;
}

/// Why nothing may be sharpened although the check tested some features; empty if it may.
std::string refusal(const Sharpening& sharpening, const SampleResult& result,
                    const std::vector<ParameterSummary>& parameters) {
  const SteinCheck& check = *sharpening.check;
  if (!sharpening.spot_check.passed) return "the gradient is not that of the log density";
  if (check.refuses()) {
    return fmt::format(
        "the Stein check failed: worst |z| = {:.1f} for {}, limit {:.1f}. The chains have not "
        "converged, or the gradient is not that of the density, or the density has jumps",
        check.worst, sharpening.worst_name, check.refusal_limit);
  }
  if (std::string reason = unfit_run(result, parameters); !reason.empty()) return reason;
  const bool none_fit = std::none_of(parameters.begin(), parameters.end(),
                                     [](const auto& row) { return row.not_sharpened.empty(); });
  return none_fit ? "no parameter has chains that agree well enough (R-hat, bulk ESS)" : "";
}

constexpr const char* not_asked_for = "it was not read off the kept states";

/// Decides for every parameter, from its own chains, whether it may be sharpened.
void judge(const SampleResult& result, std::vector<ParameterSummary>& parameters) {
  const Gates gates(result, parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (result.is_random(p)) {
      parameters[p].not_sharpened = "it is drawn at random, not a function of the state";
    } else if (!result.knows_kept(p)) {
      parameters[p].not_sharpened = not_asked_for;
    } else {
      parameters[p].not_sharpened = unfit(parameters[p], gates);
    }
  }
}

SharpenResult sharpen_chosen(const SampleResult& result,
                             const std::vector<ParameterSummary>& parameters,
                             const std::vector<std::size_t>& chosen, SharpenSettings settings) {
  Views views(result);
  for (const std::size_t p : chosen) views.add(p, parameters[p]);
  settings.blocks = blocks_of(result.coordinates);
  return sharpen(views.states(), views.scalars(), settings);
}

constexpr const char* nothing_was = "nothing was sharpened in this run";

/// From chunk sums, where `sharpened` is filled in already: removes what cannot be trusted.
Sharpening judge_running(const SampleResult& result, std::vector<ParameterSummary>& parameters,
                         bool check_only) {
  Sharpening sharpening;
  sharpening.spot_check = spot_check_of(result);
  std::vector<const RunningSummary*> chains;
  for (const ChainResult& chain : result.chains) chains.push_back(&chain.running->summary());
  if (!chains.front()->gradients()) {
    sharpening.refused =
        "gradients were not summed; without stored draws, that needs parameters that are the "
        "coordinates, recycled states, and sharpening turned on";
    return sharpening;
  }
  sharpening.check = running_stein_check(chains);
  sharpening.worst_name = stan_name(result.names.at(sharpening.check->coordinate));
  judge(result, parameters);
  if (check_only) {
    sharpening.refused = "sharpening was turned off";
    return sharpening;
  }
  sharpening.refused =
      sharpening.check->features == 0
          ? fmt::format("there are fewer than {} draws in a chain, or the gradients do not vary",
                        fewest_draws_of_running_check)
          : refusal(sharpening, result, parameters);
  for (ParameterSummary& row : parameters) {
    if (!sharpening.refused.empty() && row.not_sharpened.empty()) row.not_sharpened = nothing_was;
    if (!row.not_sharpened.empty()) row.sharpened.reset();
  }
  return sharpening;
}

}  // namespace

Sharpening sharpen_run(const SampleResult& result, std::vector<ParameterSummary>& parameters,
                       bool check_only) {
  if (!result.chains.empty() && result.chains.front().running) {
    return judge_running(result, parameters, check_only);
  }
  Sharpening sharpening;
  sharpening.spot_check = spot_check_of(result);
  if (!has_gradients(result)) {
    sharpening.refused = "the gradients of the kept states were not stored";
    return sharpening;
  }
  judge(result, parameters);
  SharpenSettings settings;
  settings.check_only = check_only;
  std::vector<std::size_t> chosen;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (parameters[p].not_sharpened.empty()) chosen.push_back(p);
  }
  SharpenResult sharpened = sharpen_chosen(result, parameters, chosen, settings);
  sharpening.check = sharpened.check;
  sharpening.worst_name = stan_name(result.coordinates.at(sharpened.check.coordinate));
  if (check_only) {
    sharpening.refused = "sharpening was turned off";
    return sharpening;
  }
  sharpening.refused = sharpened.check.features == 0
                           ? "the kept states or their gradients do not vary in some coordinate"
                           : refusal(sharpening, result, parameters);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    ParameterSummary& row = parameters[chosen[k]];
    if (sharpening.refused.empty()) {
      row.sharpened = std::move(sharpened.scalars[k]);
    } else {
      row.not_sharpened = nothing_was;
    }
  }
  return sharpening;
}

std::vector<ParameterSummary> sharpen_some(const SampleResult& result,
                                           const std::vector<ParameterSummary>& parameters,
                                           const std::vector<std::size_t>& which) {
  std::vector<ParameterSummary> rows;
  for (const std::size_t p : which) rows.push_back(parameters[p]);
  if (!has_gradients(result) || !unfit_run(result, parameters).empty()) return rows;
  std::vector<ParameterSummary> judged = parameters;
  judge(result, judged);
  std::vector<std::size_t> chosen;
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < which.size(); ++k) {
    if (!judged[which[k]].not_sharpened.empty()) continue;
    chosen.push_back(which[k]);
    places.push_back(k);
  }
  SharpenSettings settings;
  settings.no_check = true;
  SharpenResult sharpened = sharpen_chosen(result, parameters, chosen, settings);
  for (std::size_t k = 0; k < places.size(); ++k) {
    rows[places[k]].sharpened = std::move(sharpened.scalars[k]);
  }
  return rows;
}

}  // namespace rehmc
