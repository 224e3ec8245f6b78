// Hands states and gradients of a run to the sharpener, and keeps what may be trusted.
#include "rehmc/run/sharpening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rehmc {

namespace {

bool has_gradients(const SampleResult& result) {
  return !result.chains.empty() &&
         std::all_of(result.chains.begin(), result.chains.end(), [](const ChainResult& chain) {
           return !chain.running && chain.record.gradients == KeptGradients::yes &&
                  !chain.record.kept_gradient.empty();
         });
}

/// Per-draw moments about one centre for all chains, and views of everything.
class Views {
 public:
  explicit Views(const SampleResult& result) : result_(result) {
    for (const ChainResult& chain : result.chains) {
      const ChainRecord& record = chain.record;
      auto& begins = begins_.emplace_back(1, 0);
      begins.insert(begins.end(), record.kept_end.begin(), record.kept_end.end());
      states_.push_back(
          {record.kept_positions(), record.kept_gradient, record.kept_weight, begins});
    }
    const std::size_t parameters = result.names.size();
    moments_.resize(2 * parameters);
    series_.resize(3 * parameters);
    for (std::size_t p = 0; p < parameters; ++p) view(p);
  }

  std::span<const GradientStates> states() const { return states_; }

  ScalarStates scalar(std::size_t p, const ParameterSummary& row) const {
    ScalarStates scalar;
    if (p < result_.quantities.size()) scalar.coordinate = result_.quantities[p].coordinate;
    scalar.values = series_[3 * p];
    scalar.centre = result_.chains.front().record.centre[p];
    scalar.first = series_[3 * p + 1];
    scalar.second = series_[3 * p + 2];
    scalar.known = row.recycled ? *row.recycled : row.plain;
    return scalar;
  }

 private:
  void view(std::size_t p) {
    const double centre = result_.chains.front().record.centre[p];
    for (const ChainResult& chain : result_.chains) {
      const ChainRecord& record = chain.record;
      const std::size_t d = record.dimension();
      const double shift = record.centre[p] - centre;
      auto& first = moments_[2 * p].emplace_back(record.size());
      auto& second = moments_[2 * p + 1].emplace_back(record.size());
      for (std::size_t i = 0; i < record.size(); ++i) {
        const double offset = record.mean_offset[i * d + p];
        first[i] = offset + shift;
        second[i] = record.mean_square[i * d + p] + shift * (2 * offset + shift);
      }
      series_[3 * p].push_back(
          {record.kept.data() + p, record.kept_weight.size(), static_cast<std::ptrdiff_t>(d)});
      series_[3 * p + 1].push_back({first.data(), first.size(), 1});
      series_[3 * p + 2].push_back({second.data(), second.size(), 1});
    }
  }

  const SampleResult& result_;
  std::vector<std::vector<std::size_t>> begins_;
  std::vector<GradientStates> states_;
  std::vector<std::vector<std::vector<double>>> moments_;
  std::vector<std::vector<Series>> series_;
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
std::string not_mixed(const std::vector<ParameterSummary>& parameters) {
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
  const Views views(result);
  SharpenSettings settings;
  settings.blocks = blocks_of(result.coordinates);
  settings.check_only = check_only;
  std::vector<ScalarStates> scalars;
  std::vector<std::size_t> chosen;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    ParameterSummary& row = parameters[p];
    row.not_sharpened = unfit(row);
    const bool generated = p < result.quantities.size() && result.quantities[p].generated;
    if (generated) row.not_sharpened = "it is drawn anew, not a function of the state";
    if (!row.not_sharpened.empty()) continue;
    scalars.push_back(views.scalar(p, row));
    chosen.push_back(p);
  }
  SharpenResult sharpened = sharpen(views.states(), scalars, settings);
  sharpening.check = sharpened.check;
  sharpening.worst_name = result.coordinates.at(sharpened.check.coordinate);
  if (check_only) {
    sharpening.refused = "it was not asked for";
    return sharpening;
  }
  if (!sharpening.spot_check.passed) {
    sharpening.refused = "the gradient is not that of the log density";
  } else if (!sharpened.check.passed()) {
    sharpening.refused = fmt::format(
        "the Stein check failed: worst |z| = {:.1f} for {}, limit {:.1f}. The chains have not "
        "converged, or the gradient is not that of the density, or the density has jumps",
        sharpened.check.worst, sharpening.worst_name, sharpened.check.limit);
  } else if (const std::string reason = not_mixed(parameters); !reason.empty()) {
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
