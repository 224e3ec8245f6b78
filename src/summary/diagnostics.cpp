// Counts what went wrong in a run, and writes warnings with remedies.
#include "rehmc/summary/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "rehmc/adapt/pooled_warmup.hpp"

namespace rehmc {

namespace {

// Thresholds of Vehtari et al. (2021) and Betancourt (2016).
constexpr double least_ess_per_chain = 100;
constexpr double least_ebfmi = 0.3;

std::string percent(std::uint64_t part, std::uint64_t whole) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return share < 0.1 ? "under 0.1%" : fmt::format("{:.1f}%", share);
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void warn_of_trajectories(const RunSize& size, Diagnostics& diagnostics) {
  const std::uint64_t draws = size.draws;
  if (diagnostics.divergences > 0) {
    diagnostics.warnings.push_back(
        {"divergences",
         fmt::format(
             "{} of {} ({}) ended in a divergence: the step size is too large for part of the "
             "posterior, which the draws may miss. Try --target-accept 0.95 (then 0.99); if "
             "divergences remain, reparameterise the model (for example, non-centred).",
             diagnostics.divergences, plural(draws, "draw", "draws"),
             percent(diagnostics.divergences, draws))});
  }
  if (diagnostics.depth_limit_hits > 0) {
    diagnostics.warnings.push_back(
        {"depth_limit",
         fmt::format("{} of {} ({}) reached the depth limit of {}: sampling is slow, but not "
                     "biased. Raise --max-depth, use --metric dense, or rescale the model.",
                     diagnostics.depth_limit_hits, plural(draws, "draw", "draws"),
                     percent(diagnostics.depth_limit_hits, draws), size.max_depth)});
  }
}

/// "chain 2", "chains 1, 2, 3 and 1 more"
std::string listed_chains(const std::vector<std::string>& numbers) {
  return fmt::format("chain{} {}", numbers.size() == 1 ? "" : "s", listed(numbers));
}

void warn_of_energy(const RunSize& size, Diagnostics& diagnostics) {
  if (!size.fresh_momenta) return;
  std::vector<std::string> low;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < diagnostics.ebfmi.size(); ++c) {
    if (diagnostics.ebfmi[c] < least_ebfmi) {
      low.push_back(std::to_string(c + 1));
      least = std::min(least, diagnostics.ebfmi[c]);
    }
  }
  if (low.empty()) return;
  diagnostics.warnings.push_back(
      {"ebfmi", fmt::format("E-BFMI is {:.2f} (below {}) in {}: the energy changes too "
                            "little from draw to draw, so heavy tails are explored slowly. "
                            "Reparameterise the model to have lighter tails, or take more draws.",
                            least, least_ebfmi, listed_chains(low))});
}

void warn_of_quantities(const RunSize& size, Diagnostics& diagnostics) {
  const QuantityFailures& failures = diagnostics.quantity_failures;
  if (failures.draws + failures.kept == 0) return;
  std::string where = fmt::format("{} of {}", failures.draws, plural(size.draws, "draw", "draws"));
  if (failures.kept > 0) {
    where += fmt::format(" and {}", plural(failures.kept, "recycled state", "recycled states"));
  }
  diagnostics.warnings.push_back(
      {"quantities",
       fmt::format("the model failed to compute its quantities for {}; they are NaN there (see the "
                   "model's messages). Look for rejections and invalid arguments in generated "
                   "quantities; the sampling itself is not affected.",
                   where)});
}

struct Worst {
  std::vector<std::string> names;
  double value = 0;
};

void warn_of_rhat(const RunSize& size, const std::vector<ParameterSummary>& summary,
                  Diagnostics& diagnostics) {
  const std::uint64_t draws = size.draws / std::max<std::size_t>(1, size.chains);
  Worst rhat{{}, 0};
  double limit = 0;  // of the worst: limits differ between parameters
  for (const ParameterSummary& row : summary) {
    const double most = most_healthy_rhat(size.chains, draws, row.convergence, summary.size());
    if (!(row.convergence.rhat > most)) continue;
    rhat.names.push_back(row.name);
    if (row.convergence.rhat > rhat.value) limit = most;
    rhat.value = std::max(rhat.value, row.convergence.rhat);
  }
  if (rhat.names.empty()) return;
  diagnostics.warnings.push_back(
      {"rhat", fmt::format("R-hat is up to {:.3f} (above {:.4g}) for {}: the chains do not agree "
                           "yet. Take more warmup and draws; if R-hat stays high, look for "
                           "several modes or an improper posterior.",
                           rhat.value, limit, listed(rhat.names))});
}

void warn_of_convergence(const RunSize& size, const std::vector<ParameterSummary>& summary,
                         Diagnostics& diagnostics) {
  Worst stuck;
  Worst not_finite;
  Worst unknown;
  Worst ess{{}, std::numeric_limits<double>::infinity()};
  const double least_ess = least_ess_per_chain * static_cast<double>(size.chains);
  for (const ParameterSummary& row : summary) {
    const Convergence& convergence = row.convergence;
    // A prediction that is nearly always the same may be so in all draws of a chain that moves
    // well.
    if (convergence.check.condition == DrawsCondition::stuck && !row.generated) {
      stuck.names.push_back(row.name);
    }
    if (convergence.check.condition == DrawsCondition::not_finite) {
      not_finite.names.push_back(row.name);
    }
    const DrawsCondition condition = convergence.check.condition;
    if (condition == DrawsCondition::too_short ||
        (condition == DrawsCondition::ordinary && std::isnan(convergence.rhat))) {
      unknown.names.push_back(row.name);
    }
    const double smaller = std::min(convergence.ess_bulk, convergence.ess_tail);
    if (smaller < least_ess) {
      ess.names.push_back(row.name);
      ess.value = std::min(ess.value, smaller);
    }
  }
  if (!unknown.names.empty()) {
    diagnostics.warnings.push_back(
        {"too_short",
         fmt::format("there are too few draws to judge whether {} {} converged. Take "
                     "more draws.",
                     listed(unknown.names), unknown.names.size() == 1 ? "has" : "have")});
  }
  if (!stuck.names.empty()) {
    diagnostics.warnings.push_back(
        {"stuck",
         fmt::format(
             "a chain never moved in {}, or stayed on one value for a tenth of its draws or "
             "more, so no error bars are given. Look at that chain's "
             "trace; start it elsewhere (--init) or give it a longer warmup.",
             listed(stuck.names))});
  }
  if (!not_finite.names.empty()) {
    diagnostics.warnings.push_back(
        {"not_finite", fmt::format("draws of {} are not finite.", listed(not_finite.names))});
  }
  warn_of_rhat(size, summary, diagnostics);
  if (!ess.names.empty()) {
    diagnostics.warnings.push_back(
        {"ess", fmt::format("the effective sample size is down to {:.0f} (below {:.0f}) for {}: "
                            "R-hat and error bars are not reliable. Take more draws.",
                            ess.value, least_ess, listed(ess.names))});
  }
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

bool draws_fresh_momenta(const KernelSettings& kernel) {
  return kernel.hmc.momentum_kept == 0 && traits(kernel.kind).settings != SettingsGroup::own;
}

Diagnostics diagnose(const SampleResult& result, const std::vector<ParameterSummary>& summary) {
  Diagnostics diagnostics;
  RunSize size{result.chains.size(), 0, result.kernel.nuts.max_depth,
               draws_fresh_momenta(result.kernel)};
  for (const ChainResult& chain : result.chains) {
    size.draws += chain.record.size();
    for (const Ending ending : chain.record.ending) {
      if (ending == Ending::diverged) ++diagnostics.divergences;
      if (ending == Ending::depth_limit) ++diagnostics.depth_limit_hits;
    }
    diagnostics.ebfmi.push_back(energy_bfmi(chain.record.energy));
    diagnostics.gradients_warmup += chain.gradients_warmup;
    diagnostics.gradients_sampling += chain.gradients_sampling;
    diagnostics.quantity_failures += chain.quantity_failures;
    diagnostics.seconds_warmup += chain.seconds_warmup;
    diagnostics.seconds_sampling += chain.seconds_sampling;
  }
  warn_of_warmup(result, diagnostics);
  add_warnings(diagnostics, size, summary);
  return diagnostics;
}

void warn_of_warmup(const SampleResult& result, Diagnostics& diagnostics) {
  const auto chains_with = [&](std::uint32_t troubles) {
    std::vector<std::string> chains;
    for (std::size_t c = 0; c < result.chains.size(); ++c) {
      if ((result.chains[c].warmup_troubles & troubles) != 0) {
        chains.push_back(std::to_string(c + 1));
      }
    }
    return chains;
  };
  const auto warn = [&](std::string text) {
    diagnostics.warnings.push_back({"warmup", std::move(text)});
  };
  constexpr std::array unsettled{
      std::pair{WarmupTrouble::rejects, "a chain rejected most of its steps"},
      std::pair{WarmupTrouble::drifts, "the log density drifted"},
      std::pair{WarmupTrouble::metric_changes, "the metric could still be improved"},
      std::pair{WarmupTrouble::step_size_changes, "the step size changed"}};
  for (const auto& [trouble, what] : unsettled) {
    if (chains_with(trouble).empty()) continue;
    warn(
        fmt::format("warmup ended at its limit of {} iterations before it had settled: {}. Raise "
                    "--warmup; if that does not help, reparameterise the model or give --init.",
                    result.chains.front().warmup_iterations, what));
    break;
  }
  if (const auto apart = chains_with(WarmupTrouble::apart); !apart.empty()) {
    warn(
        fmt::format("{} ended warmup where there is hardly any mass, as the log density and "
                    "the spread of its states tell in comparison with the other chains: such a "
                    "chain did not find the bulk of the posterior, or is in a mode that does not "
                    "matter. Look at its trace; give starting points with --init.",
                    listed_chains(apart)));
  }
  if (const auto own = chains_with(WarmupTrouble::own_step_size); !own.empty()) {
    warn(
        fmt::format("{} took shorter steps than the other chains, whose steps would mostly have "
                    "been rejected there: part of the posterior is much narrower than the "
                    "rest. Reparameterise the model, or try --target-accept 0.95.",
                    listed_chains(own)));
  }
}

void add_warnings(Diagnostics& diagnostics, const RunSize& size,
                  const std::vector<ParameterSummary>& summary) {
  warn_of_trajectories(size, diagnostics);
  warn_of_energy(size, diagnostics);
  warn_of_quantities(size, diagnostics);
  warn_of_convergence(size, summary, diagnostics);
}

}  // namespace rehmc
