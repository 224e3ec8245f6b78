// When to stop: conditions on R-hat, effective sample sizes and error bars.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rehmc/summary/sharpening.hpp"
#include "rehmc/summary/summary.hpp"

namespace rehmc {

/// One condition, which all parameters must meet.
struct Condition {
  enum class Statistic {
    ess,
    ess_bulk,
    ess_tail,
    rhat,
    healthy_rhat,  ///< at most most_healthy_rhat(), which knows the length of the run
    stein,         ///< the Stein check passes, if there is one
    mcse_mean,
    mcse_sd,
    mcse_quantile
  };
  Statistic statistic = Statistic::ess;
  double probability = 0;  ///< of the quantile
  double limit = 0;        ///< least ESS, greatest R-hat or MCSE
  bool relative_to_sd = false;
  std::string text;  ///< as the user wrote it

  /// Whether it concerns an MCSE, which sharpening makes smaller.
  bool about_error() const {
    return statistic == Statistic::mcse_mean || statistic == Statistic::mcse_sd ||
           statistic == Statistic::mcse_quantile;
  }
  bool about_gradients() const { return about_error() || statistic == Statistic::stein; }
};

/// Conditions that must hold together, as in "ess>=400,rhat<=1.01" or "mcse(mean)<=0.01*sd":
/// ess (the smaller of bulk and tail), ess_bulk and ess_tail with >=; rhat, mcse(mean), mcse(sd)
/// and mcse(q97.5) with <=, an MCSE also as a multiple of sd; rhat<=healthy; stein. `precise`
/// stands for several: see docs/command.md. ConfigError says what is wrong.
std::vector<Condition> parse_until(std::string_view text);

/// What is known at a look.
struct Look {
  const std::vector<ParameterSummary>& parameters;
  const Sharpening* sharpening = nullptr;  ///< with the Stein check, if it was made
  std::size_t chains = 4;
  std::uint64_t draws = 0;  ///< per chain
};

/// Whether every parameter meets a condition, and which one is worst. ESS and R-hat are those of
/// the plain chain; an MCSE is that of the sharpened estimate if there is one, else of the recycled
/// one. NaN never meets a condition.
struct Verdict {
  bool met = true;
  std::string worst_name;
  double worst_value = 0;  ///< in the units of the limit
};
Verdict judge(const Condition& condition, const Look& look);

/// The parameters that are furthest from meeting conditions on MCSEs, at most so many.
std::vector<std::size_t> furthest(const std::vector<Condition>& conditions, const Look& look,
                                  std::size_t count);

/// The numbers of draws per chain at which conditions are checked, in increasing order: 100, then a
/// quarter more each time, and `most` itself at the end. Fixed in advance, so that a seed gives the
/// same draws however fast the machine is.
std::uint64_t next_look(std::uint64_t draws_done, std::uint64_t most);

}  // namespace rehmc
