// The numbers of the main studies as CSV files.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
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

/// A study of a test case, by the name of its pieces.
struct StudyPart {
  KernelKind kind;
  std::string variant;  ///< of HMC's paths; none: those of the case
  std::string name;
};
std::vector<StudyPart> studies_of(CaseName name);

/// Sections, and studies of cases, which can be run by themselves.
using WantedParts = std::set<std::string>;
/// A study is wanted by its own name or by that of its case.
bool is_wanted(const WantedParts& wanted, CaseName name, const StudyPart& part);

struct VariantResults : HmcVariant {
  Study study;
};

/// The results of one test case: of the studies that were run.
struct CaseResults : Foundation {
  Size size;
  std::array<Study, std::size(all_kernels)> studies;
  /// Of the studies, in the order of all_kernels; nothing for those that were not run.
  std::vector<std::optional<Gains>> gains;
  std::vector<std::unique_ptr<VariantResults>> variants;

  bool has(KernelKind kind) const;
  const Gains& of(KernelKind kind) const;  ///< std::logic_error if it was not run
  const VariantResults* variant(const std::string& name) const;  ///< nullptr: not run
  bool is_complete() const;
};

/// Runs what is wanted of one test case, and loads what else is stored; nullptr if that is nothing.
std::unique_ptr<CaseResults> run_case(const Workshop& workshop, CaseName name,
                                      const WantedParts& wanted);

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
/// the files of every case and kernel; experiments/README.md describes them. Rows of studies that
/// were not run stay as they are in the folder.
void write_results(const std::vector<std::unique_ptr<CaseResults>>& cases,
                   const std::filesystem::path& folder);

}  // namespace rehmc::experiments
