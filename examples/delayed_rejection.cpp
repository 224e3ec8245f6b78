// Registers delayed-rejection HMC as a kernel, and recycles the states of all its stages.
//
// Modi, Barnett and Carpenter (2024): where a path of L steps is rejected, a second one of c L
// steps with step size epsilon / c is tried before the chain stays. Every state of the first stage
// is a valid proposal by itself (Algorithm 1 of Nishimura & Dunson 2020), and so is the outcome of
// the whole transition, whose second stage is accepted with the probability of delayed rejection.
// By their Theorem 3 all of these can be averaged, although the second stage is tried only now and
// then.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "models/eight_schools.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/kernel/multi_kernel.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/summary.hpp"

namespace {

using Numbers = std::vector<double>;
using Place = rehmc::MultiStep::Place;

struct Point {
  Place place;
  Numbers momentum;
};

class DelayedRejection {
 public:
  DelayedRejection(int steps, int refinement) : steps_(steps), refinement_(refinement) {}

  void transition(rehmc::MultiStep& step) {
    Point start{step.start, Numbers(step.state(step.start).position.size())};
    step.tuning().metric->draw_momentum(step.random(), start.momentum);
    const double energy = energy_of(step, start);

    Point end = start;
    double first = 0;  // the acceptance of the first stage
    for (int k = 0; k < steps_; ++k) {
      end = leapfrog(step, end, step.tuning().step_size);
      first = acceptance(energy - energy_of(step, end));
      step.propose(end.place, first);
    }
    step.set_acceptance(first);
    if (step.random().uniform() < first) return accept(step, end);

    Point second = start;
    for (int k = 0; k < steps_ * refinement_; ++k) {
      second = leapfrog(step, second, step.tuning().step_size / refinement_);
    }
    const double ratio = std::exp(energy - energy_of(step, second));
    if (!(ratio > 0)) return stay(step);
    // From the other end, the first stage must be rejected as well.
    Point ghost = second;
    for (double& p : ghost.momentum) p = -p;
    for (int k = 0; k < steps_; ++k) ghost = leapfrog(step, ghost, step.tuning().step_size);
    const double back = acceptance(energy_of(step, second) - energy_of(step, ghost));
    const double accepted = std::min(1.0, ratio * (1 - back) / (1 - first));
    step.propose(second.place, accepted);
    if (step.random().uniform() < accepted) step.move_to(second.place);
  }

 private:
  static double acceptance(double fall) {
    return std::isnan(fall) ? 0 : std::min(1.0, std::exp(fall));
  }

  /// The outcome of the whole transition is the last proposal of every draw.
  static void accept(rehmc::MultiStep& step, const Point& end) {
    step.propose(end.place, 1);
    step.move_to(end.place);
  }
  static void stay(rehmc::MultiStep& step) { step.propose(step.start, 1); }

  static double energy_of(rehmc::MultiStep& step, const Point& point) {
    Numbers velocity(point.momentum.size());
    step.tuning().metric->inverse_mass_times(point.momentum, velocity);
    double kinetic = 0;
    for (std::size_t i = 0; i < velocity.size(); ++i)
      kinetic += velocity[i] * point.momentum[i] / 2;
    return kinetic - step.state(point.place).log_density;
  }

  static void kick(rehmc::MultiStep& step, Point& point, double half_step) {
    const std::span<const double> gradient = step.state(point.place).gradient;
    for (std::size_t i = 0; i < gradient.size(); ++i) point.momentum[i] += half_step * gradient[i];
  }

  static Point leapfrog(rehmc::MultiStep& step, Point point, double step_size) {
    // Beyond a state without density there is nothing.
    if (!std::isfinite(step.state(point.place).log_density)) return point;
    kick(step, point, step_size / 2);
    Numbers velocity(point.momentum.size());
    step.tuning().metric->inverse_mass_times(point.momentum, velocity);
    const std::span<const double> from = step.state(point.place).position;
    Numbers to(from.begin(), from.end());
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += step_size * velocity[i];
    point.place = step.evaluate(to);
    if (std::isfinite(step.state(point.place).log_density)) kick(step, point, step_size / 2);
    return point;
  }

  int steps_;
  int refinement_;
};

const rehmc::KernelKind delayed_rejection = rehmc::register_multi_kernel(
    "delayed-rejection", DelayedRejection(8, 4), rehmc::MultiYield::proposals);

void run() {
  rehmc::SampleSettings settings;
  settings.seed = 4;
  settings.draws = 2000;
  settings.kernel.kind = delayed_rejection;
  settings.kernel.recycling = rehmc::parse_recycling("spread:8");
  settings.warmup.adapt_step_size.target_acceptance = 0.7;
  const rehmc::SampleResult result = rehmc::sample(rehmc::EightSchoolsCentred{}, settings);
  std::printf("Eight schools, centred, by delayed rejection; step size %.3f\n\n",
              result.chains.front().tuning.step_size);
  std::printf("%-10s %10s %10s %10s %10s %8s\n", "", "plain sd", "mcse", "recycled", "mcse",
              "gain");
  for (const auto& row : rehmc::summarise(result)) {
    const double gain = std::pow(row.plain.mcse_sd / row.recycled->mcse_sd, 2);
    std::printf("%-10s %10.4f %10.4f %10.4f %10.4f %7.2fx\n", row.name.c_str(), row.plain.sd,
                row.plain.mcse_sd, row.recycled->sd, row.recycled->mcse_sd, gain);
  }
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const rehmc::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
