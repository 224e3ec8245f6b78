// The main study: the errors of all arms over many independent chains of one kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/leading_component.hpp"
#include "experiments/truth.hpp"

namespace rehmc::experiments {

/// Errors are computed at the end of these fractions of the chain.
inline constexpr std::array<std::size_t, 6> length_divisors{32, 16, 8, 4, 2, 1};

/// Sums over chains of squared errors.
struct ErrorSums {
  double chains = 0;
  double draws = 0;
  double acceptance = 0;
  double leapfrogs = 0;
  double divergences = 0;
  double seconds = 0;  ///< wall-clock time, all threads working
  /// At the whole length: by arm, statistic and parameter.
  std::vector<std::array<std::vector<float>, statistics>> arms;
  /// For the arms plain, all and the paper's: by length, arm, statistic and parameter.
  std::vector<std::array<std::array<std::vector<float>, statistics>, 3>> lengths;
  double component_chains = 0;  ///< those with the errors of the leading component
  /// For the arms plain and that of components: by length, arm and quantity.
  std::vector<std::array<std::array<double, component_quantities>, 2>> components;

  void add(const ErrorSums& other);

  template <class Archive>
  void archive(Archive& archive) {
    archive(chains, draws, acceptance, leapfrogs, divergences, seconds, arms, lengths,
            component_chains, components);
  }
};

struct Study {
  std::vector<Arm> arms;
  std::size_t paper_arm = 0;  ///< which of them the paper used
  std::size_t iterations = 0;
  std::vector<ErrorSums> groups;
};

/// The name of its pieces.
std::string study_name(CaseName name, KernelKind kind, const std::string& variant = "");

/// A kernel that is studied, on paths that may differ from those of the case; then it has a name.
struct Plan {
  const TestCase& test_case;
  const Preparation& preparation;
  const Truth& truth;
  KernelKind kind;
  std::string variant = {};
};

/// The chains of a study. What goes beyond the paper has about a quarter: HMC on other paths,
/// unless with the small steps of the Cox process, and without components; at the paper's size also
/// multinomial NUTS, whose chains would take a third of the time.
Size size_of_study(Scale scale, CaseName name, KernelKind kind, const std::string& variant);
inline constexpr const char* small_steps_variant = "-small";

/// Runs the chains of one kernel, or loads those that were run before.
Study run_study(const Workshop& workshop, const Plan& plan);

}  // namespace rehmc::experiments
