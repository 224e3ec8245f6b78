// Long runs with NUTS, all states recycled.
#include "experiments/truth.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "experiments/groups.hpp"
#include "rehmc/core/numerics.hpp"

namespace rehmc::experiments {

namespace {

constexpr std::size_t states_per_chain = 8;  ///< of the long run that chains of a study start from
constexpr std::size_t powers = 4;

/// Sums over all states of some draws.
struct LongSums {
  double draws = 0;
  std::array<std::vector<double>, powers> moments;  ///< of x - centre
  std::vector<double> counts;
  std::vector<std::vector<double>> states;
  PackedProducts products;  ///< of one state of every draw

  LongSums() = default;
  explicit LongSums(std::size_t parameters) : counts(parameters * Bins::count) {
    moments.fill(std::vector<double>(parameters));
  }

  template <class Archive>
  void archive(Archive& archive) {
    archive(draws, moments, counts, states, products);
  }

  void add(std::span<const double> x, double weight, std::span<const double> centre,
           std::span<const std::uint32_t> places) {
    double* const first = moments[0].data();
    double* const second = moments[1].data();
    double* const third = moments[2].data();
    double* const fourth = moments[3].data();
    const std::size_t d = x.size();
#pragma omp simd
    for (std::size_t i = 0; i < d; ++i) {
      const double difference = x[i] - centre[i];
      const double square = difference * difference;
      first[i] += weight * difference;
      second[i] += weight * square;
      third[i] += weight * square * difference;
      fourth[i] += weight * square * square;
    }
    for (const std::uint32_t place : places) counts[place] += weight;
  }

  void add(const LongSums& other) {
    if (draws == 0) {
      *this = other;
      return;
    }
    draws += other.draws;
    for (std::size_t p = 0; p < powers; ++p) {
      for (std::size_t i = 0; i < moments[p].size(); ++i) moments[p][i] += other.moments[p][i];
    }
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    states.insert(states.end(), other.states.begin(), other.states.end());
    products.add(other.products);
  }

  double value(Statistic statistic, std::size_t i, double centre, const Bins& bins) const {
    const double mean = moments[0][i] / draws;
    if (statistic == Statistic::mean) return centre + mean;
    if (statistic == Statistic::variance) return moments[1][i] / draws - mean * mean;
    return bins.quantile(i, &counts[i * Bins::count], draws);
  }
};

LongSums long_chain(const Workshop& workshop, const TestCase& test_case,
                    const Preparation& preparation, const Bins& bins, const Density& density,
                    std::size_t chain) {
  const Size size = size_of(workshop.scale, test_case.name);
  TracedChain traced(
      density, kernel_settings(test_case, preparation, KernelKind::nuts),
      {step_size(preparation, KernelKind::nuts), make_unit_metric(density.dimension())},
      preparation.states[chain % preparation.states.size()],
      {workshop.seed_of(describe(test_case.name) + " truth"), static_cast<std::uint32_t>(chain),
       0});
  for (std::size_t n = 0; n < size.burn_in; ++n) {
    workshop.check_stop();
    traced.skip();
  }
  LongSums sums(preparation.centre.size());
  Places places;
  ArmShares shares({{Family::all, 0}, {Family::spread, 1}});
  std::optional<Products> products;
  if (size.component_chains > 0) products.emplace(preparation.centre);
  for (std::size_t n = 1; n <= size.truth_iterations; ++n) {
    workshop.check_stop();
    traced.step();
    shares.share({.states = traced.states(), .next = traced.next(), .start = traced.start()},
                 traced.address());
    if (products) products->add(traced.parameters()[shares.of(1).front().state], 1);
    for (const auto& [state, weight] : shares.for_histogram(0)) {
      places.find(bins, traced.parameters()[state]);
      sums.add(traced.parameters()[state], weight, preparation.centre, places.found());
    }
    if (n * states_per_chain % size.truth_iterations < states_per_chain) {
      sums.states.emplace_back(traced.position().begin(), traced.position().end());
    }
  }
  sums.draws = static_cast<double>(size.truth_iterations);
  if (products) sums.products = products->packed();
  return sums;
}

Truth exact_truth(const Variances& variances, const Preparation& preparation) {
  Truth truth;
  truth.bins = Bins(preparation.quantile, preparation.sd);
  truth.centre = preparation.centre;
  truth.sd = preparation.sd;
  truth.leading = leading_plane(variances);
  const double z = normal_quantile(upper_probability);
  const double height = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double quantile_variance = upper_probability * (1 - upper_probability) / (height * height);
  for (const double variance : variances) {
    const double sd = std::sqrt(variance);
    const double values[] = {0, variance, z * sd};
    const double units[] = {variance, 2 * variance * variance, quantile_variance * variance};
    for (std::size_t s = 0; s < statistics; ++s) {
      truth.value[s].push_back(values[s]);
      truth.error[s].push_back(0);
      truth.unit_variance[s].push_back(units[s]);
    }
  }
  return truth;
}

/// Density at the quantile, from the bins within half an sd of it.
double height_at(const Bins& bins, std::size_t i, const double* counts, double draws,
                 double quantile) {
  const double place = (quantile - bins.low[i]) * bins.scale[i];
  constexpr double reach = 6;
  const auto from = static_cast<std::size_t>(std::clamp(place - reach, 0.0, Bins::count - 2.0));
  const auto to = std::max(
      from + 1, static_cast<std::size_t>(std::clamp(place + reach, 0.0, Bins::count - 1.0)));
  double inside = 0;
  for (std::size_t b = from; b < to; ++b) inside += counts[b];
  return inside / draws * bins.scale[i] / static_cast<double>(to - from);
}

}  // namespace

Truth find_truth(const Workshop& workshop, const TestCase& test_case,
                 const Preparation& preparation) {
  if (test_case.exact) return exact_truth(*test_case.exact, preparation);
  const Bins bins(preparation.quantile, preparation.sd);
  const auto groups = run_groups<LongSums>(
      workshop,
      {describe(test_case.name) + "-truth", Size::truth_groups,
       size_of(workshop.scale, test_case.name).truth_chains / Size::truth_groups},
      [&](std::size_t chains) { return workshop.engine(test_case.density, chains); },
      [&](const Density& density, std::size_t chain) {
        return long_chain(workshop, test_case, preparation, bins, density, chain);
      });
  const std::size_t d = preparation.centre.size();
  LongSums all;
  for (const LongSums& group : groups) all.add(group);

  Truth truth;
  truth.bins = bins;
  truth.centre = preparation.centre;
  truth.iterations = all.draws;
  const auto n = static_cast<double>(groups.size());
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t s = 0; s < statistics; ++s) {
      const auto statistic = static_cast<Statistic>(s);
      const double centre = preparation.centre[i];
      truth.value[s].push_back(all.value(statistic, i, centre, bins));
      double sum = 0;
      double squares = 0;
      for (const LongSums& group : groups) {
        const double difference = group.value(statistic, i, centre, bins) - truth.value[s].back();
        sum += difference;
        squares += difference * difference;
      }
      truth.error[s].push_back(std::sqrt((squares - sum * sum / n) / (n - 1) / n));
    }
    const double mean = all.moments[0][i] / all.draws;
    const double m2 = all.moments[1][i] / all.draws;
    const double m3 = all.moments[2][i] / all.draws;
    const double m4 = all.moments[3][i] / all.draws;
    const double variance = truth.value[1][i];
    const double fourth = m4 - 4 * mean * m3 + 6 * mean * mean * m2 - 3 * std::pow(mean, 4);
    const double height =
        height_at(bins, i, &all.counts[i * Bins::count], all.draws, truth.value[2][i]);
    truth.sd.push_back(std::sqrt(variance));
    truth.unit_variance[0].push_back(variance);
    truth.unit_variance[1].push_back(fourth - variance * variance);
    truth.unit_variance[2].push_back(upper_probability * (1 - upper_probability) /
                                     (height * height));
  }
  truth.starts = std::move(all.states);
  if (all.products.mass > 0) truth.leading = Products(truth.centre, all.products).plane();
  return truth;
}

std::vector<double> starting_position(const TestCase& test_case, const Truth& truth,
                                      const Address& address) {
  if (!test_case.exact) return truth.starts[address.chain % truth.starts.size()];
  return exact_draw(*test_case.exact, address);
}

}  // namespace rehmc::experiments
