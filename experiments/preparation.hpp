// Before the simulations of a test case: step sizes, path lengths, rough moments of the target.
#pragma once

#include <cstddef>
#include <vector>

#include "experiments/test_case.hpp"
#include "experiments/workshop.hpp"
#include "rehmc/kernel/kernel.hpp"

namespace rehmc::experiments {

inline constexpr KernelKind all_kernels[] = {KernelKind::hmc, KernelKind::nuts_slice,
                                             KernelKind::nuts};

/// What step sizes are tuned to accept.
inline constexpr double target_acceptance = 0.7;

/// Its index among them.
std::size_t place_of(KernelKind kind);

/// The normalised expected jump of paths by their number of steps, and where it is largest.
struct JumpCurve {
  std::vector<double> of_norm;    ///< tau^{-1/2} E|x(tau) - x(0)|, as the paper prints it
  std::vector<double> of_square;  ///< with the squared norm, as Wang et al. (2013) have it

  std::size_t best_steps() const;
  std::size_t best_steps_by_square() const;

  template <class Archive>
  void archive(Archive& archive) {
    archive(of_norm, of_square);
  }
};

struct Preparation {
  double step_sizes[3] = {1, 1, 1};  ///< in the order of all_kernels
  double path_length = 0;            ///< of HMC, where the rule is a length
  JumpCurve jumps;                   ///< where the rule is a jump
  /// Of the parameters, roughly: they place the histograms.
  std::vector<double> centre;
  std::vector<double> sd;
  std::vector<double> quantile;
  std::vector<std::vector<double>> states;  ///< of the pilot chains, at their end

  template <class Archive>
  void archive(Archive& archive) {
    for (double& step_size : step_sizes) archive(step_size);
    archive(path_length, jumps, centre, sd, quantile, states);
  }
};

/// The kernel of a study, which yields every state of a trajectory with its weight.
KernelSettings kernel_settings(const TestCase& test_case, const Preparation& preparation,
                               KernelKind kind);
double step_size(const Preparation& preparation, KernelKind kind);

/// Tunes every kernel to an acceptance probability of 0.7 by dual averaging on the mean over all
/// pilot chains, which advance together.
Preparation prepare(const Workshop& workshop, const TestCase& test_case);

/// The parameters of states; the views are valid until the next call.
class ParameterReader {
 public:
  /// The density is the engine's for this chain, and must outlive the reader.
  explicit ParameterReader(const Density& density);
  std::span<const std::span<const double>> read(std::span<const WeightedState> states);
  std::span<const double> read(const StateView& state);

 private:
  Density density_;
  bool direct_;
  std::vector<double> values_;
  std::vector<std::span<const double>> positions_;
  std::vector<std::span<double>> places_;
  std::vector<std::span<const double>> views_;
};

}  // namespace rehmc::experiments
