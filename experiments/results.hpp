// The numbers of the main studies as CSV files.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
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

/// All results of one test case.
struct CaseResults : Foundation {
  Size size;
  std::array<Study, std::size(all_kernels)> studies;
  std::vector<Gains> gains;  ///< of the studies, in the order of all_kernels
  /// Of the Cox process: HMC with the small steps of Girolami and Calderhead.
  std::unique_ptr<Study> small_steps;

  const Gains& of(KernelKind kind) const;
};

/// Runs what is missing of one test case.
std::unique_ptr<CaseResults> run_case(const Workshop& workshop, CaseName name);

/// The same from stored pieces; nothing if one is missing.
std::unique_ptr<CaseResults> load_case(const Workshop& workshop, CaseName name);

/// The family of the paper: the smallest K whose ESS, averaged over all estimators, is within 5% of
/// recycling everything; 0 if none of those tried is.
std::size_t sufficient_count(const CaseResults& results, KernelKind kind);

/// The ESS with one K of that family, averaged likewise, as a share of that of recycling
/// everything; NaN if it was not tried.
double share_with(const CaseResults& results, KernelKind kind, std::size_t count);

/// Squared error of the ground truth relative to the mean squared error of a recycled chain: the
/// mean over parameters, of the worst statistic.
double truth_share(const CaseResults& results, KernelKind kind);

/// Writes settings.csv, notice.csv, counts.csv, lengths.csv, components.csv and the files of every
/// case and kernel; experiments/README.md describes them.
void write_results(const std::vector<std::unique_ptr<CaseResults>>& cases,
                   const std::filesystem::path& folder);

}  // namespace rehmc::experiments
