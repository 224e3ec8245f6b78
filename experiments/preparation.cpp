// The pilot run of a test case.
#include "experiments/preparation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "experiments/chain_errors.hpp"
#include "rehmc/adapt/step_size.hpp"
#include "rehmc/adapt/warmup.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/model/initial_point.hpp"
#include "rehmc/recycle/recycling.hpp"

namespace rehmc::experiments {

namespace {

std::size_t best(const std::vector<double>& curve) {
  return 1 + static_cast<std::size_t>(std::max_element(curve.begin(), curve.end()) - curve.begin());
}

/// The start of every pilot chain: an exact draw, or the end of a warmup with NUTS.
std::vector<std::vector<double>> first_states(const Workshop& workshop, const TestCase& test_case,
                                              const Size& size) {
  const std::uint64_t seed = workshop.seed_of(describe(test_case.name) + " pilot");
  std::vector<std::vector<double>> states(size.pilot_chains);
  if (test_case.exact) {
    for (std::size_t chain = 0; chain < states.size(); ++chain) {
      states[chain] = exact_draw(*test_case.exact, {seed, static_cast<std::uint32_t>(chain), 0});
    }
    return states;
  }
  Engine engine = workshop.engine(test_case.density, size.pilot_chains);
  std::atomic<bool> failed = false;
  engine.run(failed, [&](std::size_t chain) {
    const Address address{seed, static_cast<std::uint32_t>(chain), 0};
    Guard guard(engine.density(chain));
    auto kernel = make_kernel(engine.density(chain), {});
    kernel->set_position(random_initial_point(guard, {}, address));
    WarmupSettings settings;
    settings.iterations = static_cast<int>(size.pilot_warmup);
    settings.metric = MetricKind::unit;
    settings.adapt_step_size.target_acceptance = target_acceptance;
    Warmup warmup(std::move(kernel), settings, address);
    while (!warmup.done()) {
      workshop.check_stop();
      warmup.step();
    }
    const auto position = warmup.kernel().state().position;
    states[chain].assign(position.begin(), position.end());
  });
  return states;
}

/// The pilot chains with one kernel, advanced together.
class Pilots {
 public:
  Pilots(const Workshop& workshop, const TestCase& test_case,
         const std::vector<std::vector<double>>& states, const KernelSettings& settings,
         std::string_view phase)
      : workshop_(workshop),
        engine_(workshop.engine(test_case.density, states.size())),
        seed_(workshop.seed_of(describe(test_case.name) + " " + std::string(phase))) {
    tuning_.metric = make_unit_metric(test_case.density.dimension());
    for (std::size_t chain = 0; chain < states.size(); ++chain) {
      kernels_.push_back(make_kernel(engine_.density(chain), settings));
    }
    each([&](std::size_t chain) { kernels_[chain]->set_position(states[chain]); });
  }

  void set_step_size(double size) { tuning_.step_size = size; }

  /// One transition of every chain, each shown to `look(chain, transition)`; the mean acceptance.
  template <class Look>
  double step(Look&& look) {
    workshop_.check_stop();
    std::vector<double> acceptance(kernels_.size());
    each([&](std::size_t chain) {
      const Transition& transition = kernels_[chain]->transition(
          tuning_, {seed_, static_cast<std::uint32_t>(chain), iteration_});
      acceptance[chain] = transition.acceptance;
      look(chain, transition);
    });
    ++iteration_;
    double sum = 0;
    for (const double one : acceptance) sum += one;
    return sum / static_cast<double>(acceptance.size());
  }

  /// Dual averaging from a first guess.
  double tune(std::size_t iterations, double guess) {
    StepSizeSettings settings;
    settings.target_acceptance = target_acceptance;
    DualAveraging averaging(settings);
    averaging.restart(guess / 10);  // iterates are pulled towards ten times the start
    tuning_.step_size = guess;
    for (std::size_t i = 0; i < iterations; ++i) {
      tuning_.step_size = averaging.learn(step([](std::size_t, const Transition&) {}));
    }
    tuning_.step_size = averaging.averaged();
    // The average lags, most of all in short runs: a few corrections at fixed step size, by the
    // secant of the last two where they are far enough apart, or where the last one went too far.
    // The first slope: acceptance falls by about 0.57 per unit of log step size, as 2 Phi(-x) does
    // at 0.7 if x grows like the square of the step size. Of long paths it falls faster.
    constexpr int corrections = 4;
    double slope = 0.57;
    double last_acceptance = 0;
    double last_change = 0;
    for (int c = 0; c < corrections; ++c) {
      double acceptance = 0;
      const std::size_t rounds = iterations / corrections;
      for (std::size_t i = 0; i < rounds; ++i) {
        acceptance += step([](std::size_t, const Transition&) {}) / static_cast<double>(rounds);
      }
      const double error = acceptance - target_acceptance;
      if (error * last_change < 0) {
        slope = (last_acceptance - acceptance) / last_change;
      } else if (std::abs(last_change) > 0.1) {
        slope = std::clamp((last_acceptance - acceptance) / last_change, 0.3, 1.5);
      }
      last_acceptance = acceptance;
      last_change = error / slope;
      tuning_.step_size *= std::exp(last_change);
    }
    return tuning_.step_size;
  }

  double first_guess() {
    Tuning guess = tuning_;
    Stream stream({seed_, 0, 0}, Purpose::step_size);
    double size = 0;
    each_one([&] { size = find_step_size(*kernels_[0], guess, stream); });
    return size;
  }

  std::span<const double> state(std::size_t chain) const {
    return kernels_[chain]->state().position;
  }
  const Density& density(std::size_t chain) { return engine_.density(chain); }
  std::size_t size() const { return kernels_.size(); }

 private:
  template <class Work>
  void each(Work&& work) {
    std::atomic<bool> failed = false;
    engine_.run(failed, work);
  }
  template <class Work>
  void each_one(Work&& work) {
    each([&](std::size_t chain) {
      if (chain == 0) work();
    });
  }

  const Workshop& workshop_;
  Engine engine_;
  std::uint64_t seed_;
  std::uint64_t iteration_ = 0;
  Tuning tuning_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

/// Means over pilots and trajectories of the jump to every step of a path; a rejected step counts
/// as no jump.
JumpCurve measure_jumps(Pilots& pilots, std::size_t steps, std::size_t rounds) {
  std::vector<std::vector<double>> norms(pilots.size(), std::vector<double>(steps));
  std::vector<std::vector<double>> squares = norms;
  std::vector<std::vector<double>> starts(pilots.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t chain = 0; chain < pilots.size(); ++chain) {
      const auto state = pilots.state(chain);
      starts[chain].assign(state.begin(), state.end());
    }
    pilots.step([&](std::size_t chain, const Transition& transition) {
      // In a path that lost states the steps cannot be identified.
      std::span<const WeightedState> path = transition.recycled;
      const std::vector<double>& start = starts[chain];
      const auto square_jump = [&](const StateView& state) {
        double sum = 0;
        for (std::size_t i = 0; i < start.size(); ++i) {
          const double difference = state.position[i] - start[i];
          sum += difference * difference;
        }
        return sum;
      };
      if (!path.empty() && square_jump(path.front().state) == 0) path = path.subspan(1);
      if (path.size() != steps) return;
      for (std::size_t k = 0; k < steps; ++k) {
        const double accepted = path[k].weight * static_cast<double>(steps);
        const double square = square_jump(path[k].state);
        norms[chain][k] += accepted * std::sqrt(square);
        squares[chain][k] += accepted * square;
      }
    });
  }
  JumpCurve curve{std::vector<double>(steps), std::vector<double>(steps)};
  for (std::size_t k = 0; k < steps; ++k) {
    const double root = std::sqrt(static_cast<double>(k + 1));
    for (std::size_t chain = 0; chain < pilots.size(); ++chain) {
      curve.of_norm[k] += norms[chain][k] / root;
      curve.of_square[k] += squares[chain][k] / root;
    }
  }
  return curve;
}

/// Mean, sd and upper quantile of the parameters over the pilots' kept states.
void look_at_target(Pilots& pilots, std::size_t rounds, Preparation& preparation) {
  const std::size_t d = pilots.state(0).size();
  std::vector<std::vector<float>> values(d);
  std::vector<std::unique_ptr<ParameterReader>> readers;
  for (std::size_t chain = 0; chain < pilots.size(); ++chain) {
    readers.push_back(std::make_unique<ParameterReader>(pilots.density(chain)));
  }
  std::vector<std::vector<double>> last(pilots.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    pilots.step([&](std::size_t chain, const Transition& transition) {
      const auto read = readers[chain]->read(transition.state);
      last[chain].assign(read.begin(), read.end());
    });
    for (const auto& state : last) {
      for (std::size_t i = 0; i < d; ++i) values[i].push_back(static_cast<float>(state[i]));
    }
  }
  preparation.centre.resize(d);
  preparation.sd.resize(d);
  preparation.quantile.resize(d);
  for (std::size_t i = 0; i < d; ++i) {
    auto& sample = values[i];
    const auto n = static_cast<double>(sample.size());
    double sum = 0;
    for (const float value : sample) sum += value;
    const double mean = sum / n;
    double squares = 0;
    for (const float value : sample) squares += (value - mean) * (value - mean);
    preparation.centre[i] = mean;
    preparation.sd[i] = std::sqrt(squares / n);
    const auto place = sample.begin() + static_cast<std::ptrdiff_t>(upper_probability * n);
    std::nth_element(sample.begin(), place, sample.end());
    preparation.quantile[i] = *place;
  }
}

void know_target(const Variances& variances, Preparation& preparation) {
  preparation.centre.assign(variances.size(), 0);
  for (const double variance : variances) {
    preparation.sd.push_back(std::sqrt(variance));
    preparation.quantile.push_back(normal_quantile(upper_probability) * std::sqrt(variance));
  }
}

}  // namespace

std::size_t place_of(KernelKind kind) {
  return static_cast<std::size_t>(std::find(std::begin(all_kernels), std::end(all_kernels), kind) -
                                  std::begin(all_kernels));
}

std::size_t JumpCurve::best_steps() const { return best(of_norm); }
std::size_t JumpCurve::best_steps_by_square() const { return best(of_square); }

double step_size(const Preparation& preparation, KernelKind kind) {
  return preparation.step_sizes[place_of(kind)];
}

KernelSettings kernel_settings(const TestCase& test_case, const Preparation& preparation,
                               KernelKind kind) {
  KernelSettings settings;
  settings.kind = kind;
  settings.recycling = {RecyclingKind::all, 1};
  settings.hmc.path_length = preparation.path_length;
  switch (test_case.path_rule) {
    case PathRule::leading_quarter:
      settings.hmc.jitter_least = 0.5;
      settings.hmc.jitter_most = 1;
      break;
    case PathRule::near_quarter:
    case PathRule::greatest_jump:
      settings.hmc.jitter_least = 0.9;
      settings.hmc.jitter_most = 1.1;
      break;
    case PathRule::up_to_thirty:
      settings.hmc.path_length = 1;
      settings.hmc.path_steps = 1;
      settings.hmc.path_steps_most = 30;
      break;
  }
  return settings;
}

namespace {

/// Multinomial NUTS first: step size, rough moments of the target, and states close to
/// stationarity. Returns the mean number of leapfrog steps of a tree.
double prepare_nuts(const Workshop& workshop, const TestCase& test_case, const Size& size,
                    Preparation& preparation) {
  preparation.path_length = 1;
  Pilots pilots(workshop, test_case, preparation.states,
                kernel_settings(test_case, preparation, KernelKind::nuts), "nuts");
  double& tuned = preparation.step_sizes[place_of(KernelKind::nuts)];
  tuned = pilots.tune(size.tuning_iterations, pilots.first_guess());
  std::vector<double> counts(pilots.size());
  pilots.step([&](std::size_t chain, const Transition& transition) {
    counts[chain] = transition.leapfrogs;
  });
  double leapfrogs = 0;
  for (const double count : counts) leapfrogs += count / static_cast<double>(counts.size());
  if (test_case.exact) {
    know_target(*test_case.exact, preparation);
  } else {
    look_at_target(pilots, size.tuning_iterations, preparation);
  }
  for (std::size_t chain = 0; chain < pilots.size(); ++chain) {
    const auto state = pilots.state(chain);
    preparation.states[chain].assign(state.begin(), state.end());
  }
  return leapfrogs;
}

/// Path length and step size of HMC, given the size of NUTS's trees.
void prepare_hmc(const Workshop& workshop, const TestCase& test_case, const Size& size,
                 double leapfrogs, Preparation& preparation) {
  double& hmc_step = preparation.step_sizes[place_of(KernelKind::hmc)];
  hmc_step = step_size(preparation, KernelKind::nuts);
  if (test_case.path_rule == PathRule::leading_quarter) {
    const double widest = *std::max_element(preparation.sd.begin(), preparation.sd.end());
    preparation.path_length = std::numbers::pi / 2 * widest;
  }
  if (test_case.path_rule == PathRule::greatest_jump) {
    // Paths long enough to turn, at the step size that accepts 70% of them.
    KernelSettings long_paths = kernel_settings(test_case, preparation, KernelKind::hmc);
    const auto steps = static_cast<int>(std::clamp(2 * leapfrogs, 24.0, 400.0));
    long_paths.hmc.path_steps = steps;
    Pilots pilots(workshop, test_case, preparation.states, long_paths, "jumps");
    const double size_of_jumps = pilots.tune(size.tuning_iterations, hmc_step);
    preparation.jumps =
        measure_jumps(pilots, static_cast<std::size_t>(steps), size.tuning_iterations / 2);
    // By the square: for the volatility the rule as printed peaks at about 12 steps, the period of
    // the fastest coordinates, where the slow ones hardly move; the paper's 90 lies on the plateau
    // of the square.
    preparation.path_length =
        static_cast<double>(preparation.jumps.best_steps_by_square()) * size_of_jumps;
    hmc_step = size_of_jumps;
  }
  Pilots pilots(workshop, test_case, preparation.states,
                kernel_settings(test_case, preparation, KernelKind::hmc), "hmc");
  hmc_step = pilots.tune(size.tuning_iterations, hmc_step);
}

}  // namespace

Preparation prepare(const Workshop& workshop, const TestCase& test_case) {
  const Size size = size_of(workshop.scale, test_case.name);
  Preparation preparation;
  preparation.states = first_states(workshop, test_case, size);
  const double leapfrogs = prepare_nuts(workshop, test_case, size, preparation);
  {
    Pilots pilots(workshop, test_case, preparation.states,
                  kernel_settings(test_case, preparation, KernelKind::nuts_slice), "nuts-slice");
    preparation.step_sizes[place_of(KernelKind::nuts_slice)] =
        pilots.tune(size.tuning_iterations, step_size(preparation, KernelKind::nuts));
  }
  prepare_hmc(workshop, test_case, size, leapfrogs, preparation);
  return preparation;
}

ParameterReader::ParameterReader(const Density& density)
    : density_(density), direct_(density.reads_coordinates()) {}

std::span<const std::span<const double>> ParameterReader::read(
    std::span<const WeightedState> states) {
  views_.clear();
  if (direct_) {
    for (const WeightedState& entry : states) views_.push_back(entry.state.position);
    return views_;
  }
  const std::size_t d = density_.dimension();
  values_.resize(states.size() * d);
  positions_.clear();
  places_.clear();
  for (std::size_t s = 0; s < states.size(); ++s) {
    positions_.push_back(states[s].state.position);
    places_.emplace_back(values_.data() + s * d, d);
    views_.emplace_back(places_.back());
  }
  density_.evaluate_quantities_batch(positions_, places_);
  return views_;
}

std::span<const double> ParameterReader::read(const StateView& state) {
  const WeightedState one{state, 1};
  return read(std::span(&one, 1)).front();
}

}  // namespace rehmc::experiments
