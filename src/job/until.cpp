// Reads and judges the conditions for stopping.
#include "rehmc/job/until.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/estimate/rare_events.hpp"

namespace rehmc {

namespace {

using Statistic = Condition::Statistic;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

[[noreturn]] void fail(std::string_view condition, std::string_view why) {
  throw ConfigError(
      fmt::format("until: found '{}': {}; write for example \"ess>=400,rhat<=1.01\" or "
                  "\"mcse(mean)<=0.01*sd\" (also ess_bulk, ess_tail, mcse(sd), mcse(q97.5), "
                  "rhat<=healthy, stein), or precise",
                  condition, why));
}

void set_statistic(Condition& condition, std::string_view name) {
  if (name == "ess") {
    condition.statistic = Statistic::ess;
  } else if (name == "ess_bulk") {
    condition.statistic = Statistic::ess_bulk;
  } else if (name == "ess_tail") {
    condition.statistic = Statistic::ess_tail;
  } else if (name == "rhat") {
    condition.statistic = Statistic::rhat;
  } else if (name == "mcse(mean)") {
    condition.statistic = Statistic::mcse_mean;
  } else if (name == "mcse(sd)") {
    condition.statistic = Statistic::mcse_sd;
  } else if (name.starts_with("mcse(q") && name.ends_with(")")) {
    condition.statistic = Statistic::mcse_quantile;
    const auto percent = number(name.substr(6, name.size() - 7));
    const auto known =
        std::find_if(standard_probabilities.begin(), standard_probabilities.end(),
                     [&](double p) { return percent && std::abs(100 * p - *percent) < 1e-9; });
    if (known == standard_probabilities.end()) {
      fail(condition.text, "the quantiles are q2.5, q5, q25, q50, q75, q95 and q97.5");
    }
    condition.probability = *known;
  } else {
    fail(condition.text, fmt::format("'{}' is not known", name));
  }
}

bool wants_least(Statistic statistic) {
  return statistic == Statistic::ess || statistic == Statistic::ess_bulk ||
         statistic == Statistic::ess_tail;
}

Condition parse_condition(std::string_view text) {
  Condition condition;
  condition.text = text;
  if (text == "stein" || text == "rhat<=healthy") {
    condition.statistic = text == "stein" ? Statistic::stein : Statistic::healthy_rhat;
    return condition;
  }
  const std::size_t sign = std::min(text.find(">="), text.find("<="));
  if (sign == std::string_view::npos) fail(text, "there is neither >= nor <=");
  set_statistic(condition, text.substr(0, sign));
  const bool least = wants_least(condition.statistic);
  if ((text[sign] == '>') != least) {
    fail(text, least ? "an ESS needs >=" : "R-hat and MCSE need <=");
  }
  std::string_view limit = text.substr(sign + 2);
  if (condition.about_error() && limit.ends_with("*sd")) {
    condition.relative_to_sd = true;
    limit.remove_suffix(3);
  }
  const auto value = number(limit);
  if (!value || !(*value > 0)) fail(text, "the limit must be a positive number");
  if (condition.statistic == Statistic::rhat && !(*value > 1)) {
    fail(text, "R-hat tends to 1, so its limit must be above 1");
  }
  condition.limit = *value;
  return condition;
}

double value_of(const Condition& condition, const ParameterSummary& row) {
  const Estimate& estimate = row.sharpened  ? row.sharpened->estimate
                             : row.recycled ? *row.recycled
                                            : row.plain;
  const double scale = condition.relative_to_sd ? estimate.sd : 1;
  switch (condition.statistic) {
    case Statistic::ess:
      // min() of a NaN must be NaN.
      return std::isnan(row.convergence.ess_tail)
                 ? row.convergence.ess_tail
                 : std::min(row.convergence.ess_tail, row.convergence.ess_bulk);
    case Statistic::ess_bulk:
      return row.convergence.ess_bulk;
    case Statistic::ess_tail:
      return row.convergence.ess_tail;
    case Statistic::rhat:
    case Statistic::healthy_rhat:
      return row.convergence.rhat;
    case Statistic::mcse_mean:
      return estimate.mcse_mean * student_widening(estimate.degrees_mean) / scale;
    case Statistic::mcse_sd:
      return estimate.mcse_sd * student_widening(estimate.degrees_sd) / scale;
    case Statistic::mcse_quantile:
    case Statistic::stein:
      break;
  }
  for (const QuantileEstimate& quantile : estimate.quantiles) {
    if (quantile.probability == condition.probability) {
      return quantile.mcse * student_widening(quantile.degrees) / scale;
    }
  }
  return std::nan("");
}

/// The Stein check is one for all parameters. Without gradients there is none to fail.
Verdict judge_stein(const Look& look) {
  Verdict verdict;
  if (look.sharpening == nullptr || !look.sharpening->check) return verdict;
  verdict.met = look.sharpening->check->passed();
  verdict.worst_name = look.sharpening->worst_name;
  verdict.worst_value = look.sharpening->check->worst;
  return verdict;
}

double limit_of(const Condition& condition, const ParameterSummary& row, const Look& look) {
  if (condition.statistic != Statistic::healthy_rhat) return condition.limit;
  return most_healthy_rhat(look.chains, look.draws, row.convergence, look.parameters.size());
}

/// What `precise` stands for: chains that agree as well as chains of their length can, a gradient
/// that passes its check, and two digits of everything that is usually reported.
constexpr std::string_view precise =
    "rhat<=healthy,stein,mcse(mean)<=0.02*sd,mcse(sd)<=0.03*sd,mcse(q5)<=0.05*sd,mcse(q95)<=0.05*"
    "sd";

}  // namespace

std::vector<Condition> parse_until(std::string_view text) {
  std::string compact;
  std::copy_if(text.begin(), text.end(), std::back_inserter(compact),
               [](char c) { return c != ' ' && c != '\t'; });
  std::vector<Condition> conditions;
  std::string_view rest = compact;
  for (;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    if (one == "precise") {
      for (Condition& condition : parse_until(precise)) conditions.push_back(std::move(condition));
    } else {
      conditions.push_back(parse_condition(one));
    }
    if (comma == std::string_view::npos) return conditions;
    rest.remove_prefix(comma + 1);
  }
}

Verdict judge(const Condition& condition, const Look& look) {
  if (condition.statistic == Statistic::stein) return judge_stein(look);
  const bool least = wants_least(condition.statistic);
  Verdict verdict;
  bool first = true;
  for (const ParameterSummary& row : look.parameters) {
    // A parameter that is constant and equal in all chains is known exactly.
    if (row.convergence.check.condition == DrawsCondition::constant) continue;
    const double value = value_of(condition, row);
    const bool worse = first || std::isnan(value) ||
                       (least ? value < verdict.worst_value : value > verdict.worst_value);
    if (worse && !(std::isnan(verdict.worst_value) && !first)) {
      verdict.worst_name = row.name;
      verdict.worst_value = value;
    }
    first = false;
    const double limit = limit_of(condition, row, look);
    if (!(least ? value >= limit : value <= limit)) verdict.met = false;
  }
  return verdict;
}

std::vector<std::size_t> furthest(const std::vector<Condition>& conditions, const Look& look,
                                  std::size_t count) {
  std::vector<std::pair<double, std::size_t>> ratios;
  for (std::size_t p = 0; p < look.parameters.size(); ++p) {
    const ParameterSummary& row = look.parameters[p];
    if (row.convergence.check.condition == DrawsCondition::constant) continue;
    double ratio = 0;
    for (const Condition& condition : conditions) {
      if (condition.about_error()) {
        ratio = std::max(ratio, value_of(condition, row) / condition.limit);
      }
    }
    ratios.emplace_back(-ratio, p);
  }
  std::ranges::sort(ratios);
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k < std::min(count, ratios.size()); ++k) {
    result.push_back(ratios[k].second);
  }
  return result;
}

std::uint64_t next_look(std::uint64_t draws_done, std::uint64_t most) {
  std::uint64_t look = 100;
  while (look < draws_done) look += look / 4;
  return std::min(std::max<std::uint64_t>(look, 1), most);
}

}  // namespace rehmc
