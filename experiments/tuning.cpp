// Repetitions of the tuning experiment, and their tables.
#include "experiments/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "experiments/csv.hpp"
#include "experiments/groups.hpp"
#include "experiments/preparation.hpp"
#include "experiments/results.hpp"
#include "rehmc/adapt/metric_estimate.hpp"
#include "rehmc/adapt/step_size.hpp"

namespace rehmc::experiments {

namespace {

constexpr std::size_t first_iterations = 50;
constexpr std::size_t last_iterations = 75;
constexpr std::uint64_t gradients_in_all = 10'000;
constexpr std::size_t recycled_states = 16;

/// Slice NUTS, whose step size it can tune.
class TunedChain {
 public:
  TunedChain(const Workshop& workshop, const Density& density, const Recycling& recycling,
             std::shared_ptr<const Metric> metric, const Address& address)
      : workshop_(workshop), tuning_{1, std::move(metric)}, address_(address) {
    KernelSettings settings;
    settings.kind = KernelKind::nuts_slice;
    settings.recycling = recycling;
    kernel_ = make_kernel(density, settings);
  }

  void set_position(std::span<const double> position) { kernel_->set_position(position); }

  void tune_step_size(std::size_t iterations) {
    Stream stream(address_, Purpose::step_size);
    tuning_.step_size = find_step_size(*kernel_, tuning_, stream);
    StepSizeSettings settings;
    settings.target_acceptance = target_acceptance;
    DualAveraging averaging(settings);
    averaging.restart(tuning_.step_size);
    for (std::size_t n = 0; n < iterations; ++n) {
      tuning_.step_size = averaging.learn(step().acceptance);
    }
    tuning_.step_size = averaging.averaged();
  }

  const Transition& step() {
    workshop_.check_stop();
    const Transition& transition = kernel_->transition(tuning_, address_);
    ++address_.iteration;
    return transition;
  }

  std::span<const double> position() const { return kernel_->state().position; }

 private:
  const Workshop& workshop_;
  Tuning tuning_;
  Address address_;
  std::unique_ptr<Kernel> kernel_;
};

/// The covariance of recycled states, as the warmup of the library shrinks it.
class RecycledEstimate {
 public:
  explicit RecycledEstimate(std::span<const double> centre)
      : estimate_(MetricKind::dense, MetricSource::recycled, centre),
        means_(estimate_.features()->size()) {}

  void add(const Transition& transition) {
    std::fill(means_.begin(), means_.end(), 0.0);
    estimate_.features()->add_all(transition.recycled, means_);
    Transition of_means = transition;
    of_means.feature_means = estimate_.features()->by_name(means_);
    estimate_.add(of_means);
  }
  std::shared_ptr<const Metric> metric() const { return estimate_.metric(); }

 private:
  MetricEstimate estimate_;
  std::vector<double> means_;
};

struct TuningTask {
  const Workshop& workshop;
  const TestCase& test_case;
  const Preparation& preparation;
  const Truth& truth;
  std::vector<std::size_t> lengths;
};

std::vector<double> stationary_start(const TuningTask& setting, const Density& density,
                                     const Address& address) {
  const auto& [workshop, test_case, preparation, truth, lengths] = setting;
  std::vector<double> start = starting_position(test_case, truth, address);
  if (test_case.exact) return start;
  const Address burn_in{workshop.seed_of(describe(test_case.name) + " tuning burn-in"),
                        address.chain, 0};
  TracedChain traced(
      density, kernel_settings(test_case, preparation, KernelKind::nuts_slice),
      {step_size(preparation, KernelKind::nuts_slice), make_unit_metric(density.dimension())},
      start, burn_in);
  for (std::size_t n = 0; n < size_of(workshop.scale, test_case.name).burn_in; ++n) {
    workshop.check_stop();
    traced.skip();
  }
  return {traced.position().begin(), traced.position().end()};
}

/// The result of one tuned chain.
struct Outcome {
  SquaredErrors squares;
  double iterations = 0;
};

Outcome run_tuned(const TuningTask& setting, const Density& density, std::span<const double> start,
                  std::shared_ptr<const Metric> metric, const Address& address) {
  const Truth& truth = setting.truth;
  TunedChain chain(setting.workshop, density, {RecyclingKind::none, 1}, std::move(metric), address);
  chain.set_position(start);
  chain.tune_step_size(last_iterations);

  ParameterReader reader(density);
  ArmShares shares({{Family::plain, 1}});
  ArmSums sums(1, truth.centre, truth.bins);
  Outcome outcome;
  for (std::uint64_t gradients = 0; gradients < gradients_in_all;) {
    const Transition& transition = chain.step();
    gradients += transition.leapfrogs;
    ++outcome.iterations;
    const WeightedState draw{transition.state, 1};
    shares.share({.states = std::span(&draw, 1)}, address);
    sums.add(reader.read(std::span(&draw, 1)), shares);
  }
  std::vector<double> estimate(truth.centre.size());
  for (std::size_t s = 0; s < statistics; ++s) {
    sums.estimate(0, static_cast<Statistic>(s), estimate);
    for (std::size_t i = 0; i < estimate.size(); ++i) {
      const double error = estimate[i] - truth.value[s][i];
      outcome.squares[s].push_back(static_cast<float>(error * error / truth.unit_variance[s][i]));
    }
  }
  return outcome;
}

TuningGroup run_repetition(const TuningTask& setting, const Density& density,
                           std::size_t repetition) {
  const Workshop& workshop = setting.workshop;
  const std::string name = describe(setting.test_case.name);
  const auto chain = static_cast<std::uint32_t>(repetition);
  const Address address{workshop.seed_of(name + " tuning"), chain, 0};
  TuningGroup result{1, std::vector<TuningErrors>(setting.lengths.size())};
  adapt_metrics(
      workshop, density, stationary_start(setting, density, address), address, setting.lengths,
      [&](std::size_t length, const TunedMetrics& tuned) {
        TuningErrors& errors = result.lengths[length];
        for (std::size_t arm = 0; arm < tuning_arms; ++arm) {
          const Address of_arm{
              workshop.seed_of(fmt::format("{} tuned {} {}", name, setting.lengths[length], arm)),
              chain, 0};
          Outcome outcome = run_tuned(setting, density, tuned.position, tuned.metrics[arm], of_arm);
          errors.squares[arm] = std::move(outcome.squares);
          errors.iterations[arm] = outcome.iterations;
        }
      });
  return result;
}

/// Over all groups but one, parameter by parameter.
std::vector<double> log2_ratios(const std::vector<TuningGroup>& groups, std::size_t left_out,
                                std::size_t length, std::size_t statistic) {
  std::vector<double> plain;
  std::vector<double> recycled;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (g == left_out) continue;
    const auto& squares = groups[g].lengths[length].squares;
    plain.resize(squares[0][statistic].size());
    recycled.resize(plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      plain[i] += squares[0][statistic][i];
      recycled[i] += squares[1][statistic][i];
    }
  }
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = std::log2(plain[i] / recycled[i]);
  return plain;
}

}  // namespace

void TuningGroup::add(const TuningGroup& other) {
  if (repetitions == 0) {
    *this = other;
    return;
  }
  repetitions += other.repetitions;
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    for (std::size_t arm = 0; arm < tuning_arms; ++arm) {
      lengths[l].iterations[arm] += other.lengths[l].iterations[arm];
      for (std::size_t s = 0; s < statistics; ++s) {
        auto& sum = lengths[l].squares[arm][s];
        const auto& term = other.lengths[l].squares[arm][s];
        std::transform(sum.begin(), sum.end(), term.begin(), sum.begin(), std::plus<>());
      }
    }
  }
}

std::vector<Measured> TuningStudy::mean_log2(std::size_t length) const {
  return jackknife(groups.size(), [&](std::size_t left_out) {
    std::vector<double> means;
    for (std::size_t s = 0; s < statistics; ++s) {
      const std::vector<double> ratios = log2_ratios(groups, left_out, length, s);
      double sum = 0;
      for (const double ratio : ratios) sum += ratio;
      means.push_back(sum / static_cast<double>(ratios.size()));
    }
    return means;
  });
}

std::vector<double> TuningStudy::log2_by_parameter(std::size_t length, Statistic statistic) const {
  return log2_ratios(groups, groups.size(), length, static_cast<std::size_t>(statistic));
}

void adapt_metrics(const Workshop& workshop, const Density& density, std::span<const double> start,
                   const Address& address, std::span<const std::size_t> lengths,
                   const std::function<void(std::size_t, const TunedMetrics&)>& look) {
  const auto unit = make_unit_metric(density.dimension());
  TunedChain chain(workshop, density, {RecyclingKind::spread, recycled_states}, unit, address);
  chain.set_position(start);
  chain.tune_step_size(first_iterations);

  MetricEstimate of_draws(MetricKind::dense, MetricSource::draws, chain.position());
  RecycledEstimate of_recycled(chain.position());
  std::size_t iteration = 0;
  for (std::size_t length = 0; length < lengths.size(); ++length) {
    for (; iteration < lengths[length]; ++iteration) {
      const Transition& transition = chain.step();
      of_draws.add(transition);
      of_recycled.add(transition);
    }
    TunedMetrics tuned{{of_draws.metric(), of_recycled.metric()},
                       {chain.position().begin(), chain.position().end()}};
    // Without usable moments the old metric stays, as in any warmup.
    for (auto& metric : tuned.metrics) {
      if (metric == nullptr) metric = unit;
    }
    look(length, tuned);
  }
}

TuningStudy run_tuning(const Workshop& workshop, const TestCase& test_case,
                       const Preparation& preparation, const Truth& truth) {
  const TuningSize size = tuning_size_of(workshop.scale, test_case.name);
  const TuningTask setting{workshop, test_case, preparation, truth, size.lengths};
  const Groups groups{describe(test_case.name) + "-tuning", size.groups,
                      size.repetitions / size.groups};
  return {test_case.name, size.lengths,
          run_groups<TuningGroup>(
              workshop, groups,
              [&](std::size_t chains) { return workshop.engine(test_case.density, chains); },
              [&](const Density& density, std::size_t repetition) {
                return run_repetition(setting, density, repetition);
              })};
}

void write_tuning(std::span<const TuningStudy> studies, const std::filesystem::path& folder) {
  Table all({"case", "adapt", "statistic", "log2", "log2_error"});
  for (const TuningStudy& study : studies) {
    for (std::size_t length = 0; length < study.lengths.size(); ++length) {
      const std::vector<Measured> means = study.mean_log2(length);
      Table table({"parameter", "mean_log2", "variance_log2", "q97.5_log2"});
      std::array<std::vector<double>, statistics> ratios;
      for (std::size_t s = 0; s < statistics; ++s) {
        all.append({describe(study.name), study.lengths[length], statistic_names[s], means[s].value,
                    means[s].error});
        ratios[s] = study.log2_by_parameter(length, static_cast<Statistic>(s));
      }
      for (std::size_t i = 0; i < ratios[0].size(); ++i) {
        table.append({i + 1, ratios[0][i], ratios[1][i], ratios[2][i]});
      }
      table.write(folder /
                  fmt::format("tuning-{}-{}.csv", describe(study.name), study.lengths[length]));
    }
  }
  all.write(folder / "tuning.csv");
}

}  // namespace rehmc::experiments
