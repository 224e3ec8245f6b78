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
  in_part,  ///< one part of the claim agrees, or a looser reading of it; the remark says which
  differs,
  unclear,  ///< the Monte Carlo error is too large to decide, or the estimator is not the paper's
};
std::string describe(Agreement agreement);

/// The section of what is no claim of the published text; it is not counted.
inline constexpr const char* uncounted_section = "overhead";

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

/// The claims that can be checked: about the studies that were run, and the tables of tuning and
/// overhead in the folder.
std::vector<Claim> judge_claims(const std::vector<std::unique_ptr<CaseResults>>& cases,
                                const std::filesystem::path& folder);

/// Writes claims.csv. Claims about studies that were not run stay as they are in the folder.
void write_claims(const std::vector<Claim>& claims,
                  const std::vector<std::unique_ptr<CaseResults>>& cases,
                  const std::filesystem::path& folder);

}  // namespace rehmc::experiments
