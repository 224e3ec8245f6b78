// The paper claim by claim: what it says, what was measured, whether they agree.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiments/results.hpp"

namespace rehmc::experiments {

enum class Agreement {
  agrees,
  differs,
  unclear,  ///< the Monte Carlo error is too large to decide
};
std::string describe(Agreement agreement);

struct Claim {
  std::string id;
  std::string section;
  std::string claim;
  std::string paper;
  std::string measured;
  std::string error;
  Agreement agreement = Agreement::unclear;
  std::string remark;
};

/// The claims that can be checked: about the given test cases, and the tables of tuning and
/// overhead in the folder.
std::vector<Claim> judge_claims(const std::vector<std::unique_ptr<CaseResults>>& cases,
                                const std::filesystem::path& folder);

/// Writes claims.csv.
void write_claims(const std::vector<Claim>& claims, const std::filesystem::path& folder);

}  // namespace rehmc::experiments
