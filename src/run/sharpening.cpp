// Hands states and gradients of a run to the sharpener, and keeps what may be trusted.
#include "rehmc/run/sharpening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "record_series.hpp"

namespace rehmc {

namespace {

bool has_gradients(const SampleResult& result) {
  return !result.chains.empty() &&
         std::all_of(result.chains.begin(), result.chains.end(), [](const ChainResult& chain) {
           return !chain.running && chain.record.gradients == KeptGradients::yes &&
                  !chain.record.kept_gradient.empty();
         });
}

/// Views of the records for the sharpener, and what they need beside the records.
class Views {
 public:
  explicit Views(const SampleResult& result) : result_(result) {
    for (const ChainResult& chain : result.chains) begins_.push_back(kept_begins(chain.record));
    for (std::size_t c = 0; c < result.chains.size(); ++c) {
      const ChainRecord& record = result.chains[c].record;
      states_.push_back(
          {record.kept_positions(), record.kept_gradient, record.kept_weight, begins_[c]});
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

/// Why a parameter's chains are not fit to be sharpened; empty if they are.
std::string unfit(const ParameterSummary& row) {
  if (row.plain.condition != DrawsCondition::ordinary) return "its draws are not in order";
  if (!(row.convergence.rhat <= most_rhat_to_sharpen)) {
    return fmt::format("R-hat is {:.3f}, above {}", row.convergence.rhat, most_rhat_to_sharpen);
  }
  if (!(row.convergence.ess_bulk >= least_ess_to_sharpen)) {
    return fmt::format("bulk ESS is {:.0f}, below {}", row.convergence.ess_bulk,
                       least_ess_to_sharpen);
  }
  return {};
}

/// Why no parameter of the run is to be sharpened; empty if some may be.
std::string not_mixed(const SampleResult& result, const std::vector<ParameterSummary>& parameters) {
  std::size_t draws = 0;
  std::size_t divergent = 0;
  for (const ChainResult& chain : result.chains) {
    draws += chain.record.size();
    divergent += chain.record.divergences.size();
  }
  const double share = static_cast<double>(divergent) / static_cast<double>(draws);
  if (share > most_divergent_share) {
    return fmt::format("{} of {} draws diverged, more than {}%", divergent, draws,
                       100 * most_divergent_share);
  }
  for (const ParameterSummary& row : parameters) {
    if (row.convergence.rhat > most_rhat_of_any) {
      return fmt::format("R-hat of {} is {:.3f}, above {}", row.name, row.convergence.rhat,
                         most_rhat_of_any);
    }
    if (row.convergence.ess_bulk < least_ess_of_any) {
      return fmt::format("bulk ESS of {} is {:.0f}, below {}", row.name, row.convergence.ess_bulk,
                         least_ess_of_any);
    }
  }
  return {};
}

}  // namespace

Sharpening sharpen_run(const SampleResult& result, std::vector<ParameterSummary>& parameters,
                       bool check_only) {
  Sharpening sharpening;
  for (const ChainResult& chain : result.chains) {
    const bool first = sharpening.spot_check.directions == 0;
    if (first || (sharpening.spot_check.passed && !chain.spot_check.passed)) {
      sharpening.spot_check = chain.spot_check;
    }
  }
  if (!has_gradients(result)) {
    sharpening.refused = "the gradients of the kept states were not stored";
    return sharpening;
  }
  Views views(result);
  SharpenSettings settings;
  settings.blocks = blocks_of(result.coordinates);
  settings.check_only = check_only;
  std::vector<std::size_t> chosen;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    ParameterSummary& row = parameters[p];
    row.not_sharpened = unfit(row);
    const bool generated = p < result.quantities.size() && result.quantities[p].generated;
    if (generated) row.not_sharpened = "it is drawn anew, not a function of the state";
    if (!row.not_sharpened.empty()) continue;
    views.add(p, row);
    chosen.push_back(p);
  }
  SharpenResult sharpened = sharpen(views.states(), views.scalars(), settings);
  sharpening.check = sharpened.check;
  sharpening.worst_name = result.coordinates.at(sharpened.check.coordinate);
  if (check_only) {
    sharpening.refused = "it was not asked for";
    return sharpening;
  }
  if (sharpened.check.features == 0) {
    sharpening.refused = "the kept states or their gradients have no spread in some coordinate";
  } else if (!sharpening.spot_check.passed) {
    sharpening.refused = "the gradient is not that of the log density";
  } else if (!sharpened.check.passed()) {
    sharpening.refused = fmt::format(
        "the Stein check failed: worst |z| = {:.1f} for {}, limit {:.1f}. The chains have not "
        "converged, or the gradient is not that of the density, or the density has jumps",
        sharpened.check.worst, sharpening.worst_name, sharpened.check.limit);
  } else if (const std::string reason = not_mixed(result, parameters); !reason.empty()) {
    sharpening.refused = reason;
  } else if (chosen.empty()) {
    sharpening.refused = "no parameter has chains that agree well enough (R-hat, bulk ESS)";
  }
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    ParameterSummary& row = parameters[chosen[k]];
    if (sharpening.refused.empty()) {
      row.sharpened = std::move(sharpened.scalars[k]);
    } else {
      row.not_sharpened = "nothing was, in this run";
    }
  }
  return sharpening;
}

}  // namespace rehmc
