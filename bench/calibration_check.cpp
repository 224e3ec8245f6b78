// Simulated estimates: honest ones must pass all bars, and each kind of dishonesty must be seen.
#include "calibration_check.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibration_numbers.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc::bench {

namespace {

constexpr std::size_t simulated_runs = 400;
constexpr std::size_t simulated_parameters = 6;
/// Each of the few bars is missed by chance with a probability below 1e-5; the seed is fixed.
constexpr double allowed_margin = 4.5;

/// What is wrong with the MCSEs of one simulation.
struct Fault {
  double factor = 1;   ///< all are this many times too large
  double scatter = 0;  ///< sd of their logarithms
  int degrees = 0;     ///< they are estimated from so many squares; 0: they are known
  bool states_degrees = false;
};

double student_scale(Stream& stream, int degrees) {
  double squares = 0;
  for (int i = 0; i < degrees; ++i) squares += std::pow(stream.normal(), 2);
  return degrees > 0 ? std::sqrt(squares / degrees) : 1;
}

Calibration judged_with(const Fault& fault) {
  Stream stream({1, 0, 0}, Purpose::test);
  std::vector<RunOutcome> all(simulated_runs);
  for (RunOutcome& run : all) {
    run.parameters.resize(simulated_parameters);
    for (Outcome& one : run.parameters) {
      one.sharp = true;
      Value& value = one.sharpened[0];
      value.value = stream.normal();
      value.mcse = fault.factor * std::exp(fault.scatter * stream.normal()) *
                   student_scale(stream, fault.degrees);
      if (fault.states_degrees) value.degrees = fault.degrees;
      one.plain[0] = {2 * stream.normal(), 2};
    }
  }
  ExactValues standard_normal;
  standard_normal.sd = 1;
  const std::vector<ExactValues> truth(simulated_parameters, standard_normal);
  return calibrate(all, truth, Kind::sharpened, 0, [](std::size_t) { return allowed_margin; });
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("the judgement of error bars is wrong: " + what);
}

}  // namespace

void check_judgement() {
  const Calibration honest = judged_with({});
  require(honest.holds() && honest.coverage.holds, "honest ones fail");
  require(std::abs(std::log(honest.gain / 4)) < 0.3, "a gain of 4 is not seen");
  require(!judged_with({.factor = 0.8}).mean_square.holds, "too small ones pass");
  require(!judged_with({.factor = 1.25}).mean_square.holds, "too large ones pass");
  const Calibration scattered = judged_with({.scatter = 0.5});
  require(!scattered.quarters[0].holds && !scattered.quarters[3].holds, "quarters pass");
  require(!scattered.ratios_hold, "the 90/10 ratio passes");
  const Calibration few = judged_with({.degrees = 4});
  require(!few.ratios_hold && !few.coverage.holds, "few degrees of freedom pass unstated");
  const Calibration stated = judged_with({.degrees = 4, .states_degrees = true});
  require(stated.ratios_hold && stated.t_coverage.holds, "stated degrees of freedom do not excuse");
}

}  // namespace rehmc::bench
