// What leave-one-out says, for the terminal.
#pragma once

#include <optional>
#include <string>

#include "rehmc/summary/loo_summary.hpp"

namespace rehmc::cli {

/// One or two lines; empty without log likelihoods.
std::string loo_text(const std::optional<LooSummary>& summary);

}  // namespace rehmc::cli
