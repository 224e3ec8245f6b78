// The paper's figures, and those beyond it, from the tables in a results folder.
//
// The tables are described in experiments/README.md.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/csv.hpp"
#include "experiments/figure.hpp"

namespace rehmc::experiments {

/// The tables of one folder, and which of those that were asked for are not there.
class Results {
 public:
  explicit Results(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  /// NAME.csv; none, and noted as missing, if there is no such file.
  std::optional<Table> find(const std::string& name);
  /// The files that were asked for in vain since the last call.
  std::set<std::string> take_missing() { return std::exchange(missing_, {}); }

 private:
  std::filesystem::path folder_;
  std::set<std::string> missing_;
};

inline constexpr const char* shown_statistics[] = {"mean", "variance", "q97.5"};
inline constexpr const char* shown_kernels[] = {"hmc", "nuts-slice", "nuts"};
inline constexpr const char* shown_cases[] = {"gaussian", "logistic", "volatility", "cox"};

std::string name_of_statistic(const std::string& statistic);
std::string name_of_kernel(const std::string& kernel, const std::string& target = "");
std::string name_of_case(const std::string& target);

/// Each gives the figures that the tables at hand allow.
std::vector<Figure> trajectory_figures(Results& results);
/// ESS ratios and ESS of one case under one kernel.
std::vector<Figure> gain_figures(Results& results, const std::string& target,
                                 const std::string& kernel);
std::vector<Figure> component_figures(Results& results);
std::vector<Figure> tuning_figures(Results& results, const std::string& target);
/// Gains with a handful of numbers of states, parameter by parameter.
std::vector<Figure> count_figures(Results& results);
/// Average gains against the number of states, by the rule that picks them.
std::vector<Figure> family_figures(Results& results);
std::vector<Figure> length_figures(Results& results);
/// Multinomial against slice, and gradients.
std::vector<Figure> multinomial_figures(Results& results);
std::vector<Figure> sharpening_figures(Results& results);

}  // namespace rehmc::experiments
