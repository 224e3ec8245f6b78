// Orders parameters by position, by effective sample size and by divergences; takes from each.
#include "shown_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "bounds.hpp"
#include "rehmc/estimate/chain_table.hpp"

namespace rehmc::report {

namespace {

using Order = std::vector<std::size_t>;

/// The smaller ESS of a parameter; -1, so that it comes first, if it has none.
double worst_ess(const ParameterSummary& row) {
  if (row.plain.condition == DrawsCondition::constant) {
    return std::numeric_limits<double>::infinity();  // nothing to estimate
  }
  const Convergence& convergence = row.convergence;
  const bool judged = std::isfinite(convergence.ess_bulk) && std::isfinite(convergence.ess_tail) &&
                      std::isfinite(convergence.rhat);
  return judged ? std::min(convergence.ess_bulk, convergence.ess_tail) : -1;
}

double sd_about(std::span<const double> values, double mean) {
  return std::sqrt(squares_about(values, mean) / static_cast<double>(values.size()));
}

/// How far the divergent draws of a parameter lie from the others: shift plus change of scale.
double distance_of_divergences(const SampleResult& result, const ShownDraws& shown,
                               std::size_t parameter) {
  const std::vector<double> values = shown_values(result, shown, parameter);
  std::vector<double> divergent;
  std::vector<double> ordinary;
  for (std::size_t i = 0; i < values.size(); ++i) {
    (shown.draws[i].divergent ? divergent : ordinary).push_back(values[i]);
  }
  const double mean_divergent = mean_of(divergent);
  const double mean_ordinary = mean_of(ordinary);
  const double sd = sd_about(ordinary, mean_ordinary);
  const double shift = std::abs(mean_divergent - mean_ordinary) / sd;
  const double ratio = sd_about(divergent, mean_divergent) / sd;
  const double scale = divergent.size() < 3 ? 0 : std::min(2.0, std::abs(std::log(ratio)));
  const double distance = shift + scale;
  return std::isfinite(distance) ? distance : 0;
}

/// The parameters with the smallest key first.
Order sorted_by(const std::vector<double>& key) {
  Order order(key.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
  return order;
}

/// The two whose shown draws are most correlated, among these parameters. Parameters that determine
/// each other, such as the two halves of a symmetric matrix, tell nothing.
Order most_correlated(const SampleResult& result, const ShownDraws& shown, const Order& among) {
  constexpr double same = 0.9999;
  std::vector<std::vector<double>> standardised;
  for (const std::size_t p : among) {
    std::vector<double> values = shown_values(result, shown, p);
    const double mean = mean_of(values);
    const double size = std::sqrt(squares_about(values, mean));
    for (double& x : values) x = (x - mean) / size;
    standardised.push_back(std::move(values));
  }
  Order pair{among[0], among[1]};
  double most = -1;
  for (std::size_t i = 0; i < among.size(); ++i) {
    for (std::size_t j = i + 1; j < among.size(); ++j) {
      const double correlation = std::abs(std::inner_product(
          standardised[i].begin(), standardised[i].end(), standardised[j].begin(), 0.0));
      if (!(correlation > most) || correlation > same) continue;
      most = correlation;
      pair = {among[i], among[j]};
    }
  }
  return pair;
}

/// Takes parameters from the front of each order in turn until there are `count`.
Order first_of_each(const std::vector<Order>& orders, std::size_t count, std::size_t dimension) {
  std::vector<bool> taken(dimension, false);
  std::size_t number_taken = 0;
  for (std::size_t i = 0; i < dimension && number_taken < count; ++i) {
    for (const Order& order : orders) {
      if (number_taken < count && !taken[order[i]]) {
        taken[order[i]] = true;
        ++number_taken;
      }
    }
  }
  Order chosen;
  for (std::size_t p = 0; p < dimension; ++p) {
    if (taken[p]) chosen.push_back(p);
  }
  return chosen;
}

/// Of the parameters in an order, those that vary; parameters rather than generated quantities, if
/// there are two.
Order worth_a_look(const Order& order, const std::vector<ParameterSummary>& summary) {
  Order vary;
  Order parameters;
  for (const std::size_t p : order) {
    if (summary[p].plain.condition == DrawsCondition::constant) continue;
    vary.push_back(p);
    if (!summary[p].generated) parameters.push_back(p);
  }
  return parameters.size() > 1 ? parameters : vary;
}

}  // namespace

ShownParameters choose_parameters(const SampleResult& result,
                                  const std::vector<ParameterSummary>& summary,
                                  const ShownDraws& draws) {
  const std::size_t dimension = summary.size();
  std::vector<double> key(dimension, 0.0);
  for (std::size_t p = 0; p < dimension; ++p) {
    if (summary[p].plain.condition == DrawsCondition::constant) key[p] = 2;
    if (summary[p].generated) key[p] += 1;
  }
  std::vector<Order> orders{sorted_by(key)};  // parameters as they come, constants last
  std::transform(summary.begin(), summary.end(), key.begin(), worst_ess);
  orders.push_back(sorted_by(key));
  if (draws.divergences > 0) {
    for (std::size_t p = 0; p < dimension; ++p) {
      key[p] = -distance_of_divergences(result, draws, p);
    }
    orders.push_back(sorted_by(key));
  }
  ShownParameters shown;
  shown.rows = first_of_each(orders, most_rows, dimension);
  if (draws.draws.empty()) return shown;  // a run that kept only its summary
  shown.plotted = first_of_each(orders, most_plotted, dimension);
  if (draws.divergences > 0) {
    const Order order = worth_a_look(orders.back(), summary);
    if (order.size() > 1) shown.pair = {order[0], order[1]};
    return shown;
  }
  const Order order = worth_a_look(shown.plotted, summary);
  if (order.size() > 1) shown.pair = most_correlated(result, draws, order);
  return shown;
}

}  // namespace rehmc::report
