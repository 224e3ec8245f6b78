// Registers multiple-try Metropolis in its parallel form as a kernel, and recycles all tries.
//
// From the chain's state x, draw a centre c ~ N(x, s^2 / M) and tries x_1 ... x_K ~ N(c, s^2 / M).
// Given c, the states x, x_1 ... x_K are exchangeable under the proposals, so a state drawn from
// them by its density leaves the target invariant (Tjelmeland 2004; Calderhead 2014). All K + 1
// weights are known anyway: rehmc recycles them. The tries do not depend on each other, so a model
// with a parallel gradient can evaluate them at once.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

#include "models/banana.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/kernel/multi_kernel.hpp"
#include "rehmc/run/sample.hpp"
#include "rehmc/summary/summary.hpp"

namespace {

class ParallelTries {
 public:
  explicit ParallelTries(std::size_t tries) : tries_(tries) {}

  void transition(rehmc::MultiStep& step) {
    const std::vector<double> scale = step.tuning().metric->inverse_diagonal();
    const auto near = [&](std::span<const double> x) {
      std::vector<double> to(x.begin(), x.end());
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] += step.tuning().step_size * std::sqrt(scale[i]) * step.random().normal();
      }
      return to;
    };
    const std::vector<double> centre = near(step.state(step.start).position);
    std::vector<double> log_density{step.state(step.start).log_density};
    for (std::size_t k = 0; k < tries_; ++k) {
      log_density.push_back(step.state(step.evaluate(near(centre))).log_density);
    }
    for (std::size_t place = 0; place <= tries_; ++place) step.weigh(place, log_density[place]);
    step.move_to(draw(log_density, step.random().uniform()));
  }

 private:
  /// A place drawn by density; u is uniform on (0, 1).
  static std::size_t draw(const std::vector<double>& log_density, double u) {
    double total = 0;
    for (const double value : log_density) total += std::exp(value - log_density.front());
    double left = u * total;
    std::size_t place = 0;
    while (place + 1 < log_density.size()) {
      left -= std::exp(log_density[place] - log_density.front());
      if (left < 0) break;
      ++place;
    }
    return place;
  }

  std::size_t tries_;
};

const rehmc::KernelKind parallel_tries =
    rehmc::register_multi_kernel("parallel-tries", ParallelTries(10));

void run() {
  rehmc::SampleSettings settings;
  settings.seed = 3;
  settings.draws = 4000;
  settings.kernel.kind = parallel_tries;
  settings.kernel.recycling = rehmc::parse_recycling("all");
  settings.warmup.adapt_step_size.target_acceptance = 0.7;
  const rehmc::SampleResult result = rehmc::sample(rehmc::Banana{}, settings);
  std::printf("Ten tries per draw on the banana; step size %.2f\n\n",
              result.chains.front().tuning.step_size);
  std::printf("%-6s %10s %10s %10s %10s %8s\n", "", "plain", "mcse", "recycled", "mcse", "gain");
  for (const auto& row : rehmc::summarise(result)) {
    const double gain = std::pow(row.plain.mcse_mean / row.recycled->mcse_mean, 2);
    std::printf("%-6s %10.4f %10.4f %10.4f %10.4f %7.2fx\n", row.name.c_str(), row.plain.mean,
                row.plain.mcse_mean, row.recycled->mean, row.recycled->mcse_mean, gain);
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
