// The numbers of the main studies as CSV files.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/gains.hpp"

namespace rehmc::experiments {

inline constexpr const char* statistic_names[statistics] = {"mean", "variance", "q97.5"};

/// What every study of a test case builds on.
struct Foundation {
  TestCase test_case;
  Preparation preparation;
  Truth truth;
};
/// Runs what is missing.
Foundation lay_foundation(const Workshop& workshop, CaseName name);

/// HMC on other paths than those of the case.
struct HmcVariant {
  std::string name;  ///< begins with -
  std::string about;
  TestCase test_case;
  Preparation preparation;
};
inline constexpr const char* periodic_variant = "-near";
/// What they are called, and what is other.
std::vector<std::pair<std::string, std::string>> variant_names(CaseName name);

struct VariantResults : HmcVariant {
  Study study;
};

/// All results of one test case.
struct CaseResults : Foundation {
  Size size;
  std::array<Study, std::size(all_kernels)> studies;
  std::vector<Gains> gains;  ///< of the studies, in the order of all_kernels
  std::vector<std::unique_ptr<VariantResults>> variants;

  const Gains& of(KernelKind kind) const;
  const VariantResults* variant(const std::string& name) const;  ///< nullptr: not run
};

/// Runs what is missing of one test case.
std::unique_ptr<CaseResults> run_case(const Workshop& workshop, CaseName name);

/// The same from stored pieces; nothing if one is missing.
std::unique_ptr<CaseResults> load_case(const Workshop& workshop, CaseName name);

/// How much of the effective sample size of recycling everything some states have, by the paper's
/// own way to choose them: under HMC evenly spaced steps, each accepted or rejected, under NUTS the
/// final state and evenly spread ones.
struct CountShare {
  std::size_t arm;
  double states;  ///< per iteration, on average
  Measured share;
};
/// From the most to the fewest. The average over estimators is without the means for the Gaussian,
/// as in the paper, because the gain of means of narrow coordinates has no bound.
std::vector<CountShare> count_shares(const CaseResults& results, KernelKind kind);

/// Squared error of the ground truth relative to the mean squared error of a recycled chain: the
/// mean over parameters, of the worst statistic.
double truth_share(const CaseResults& results, KernelKind kind);

/// Writes settings.csv, notice.csv, counts.csv, lengths.csv, components.csv, sensitivity.csv and
/// the files of every case and kernel; experiments/README.md describes them.
void write_results(const std::vector<std::unique_ptr<CaseResults>>& cases,
                   const std::filesystem::path& folder);

}  // namespace rehmc::experiments
