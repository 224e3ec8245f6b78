// The story of warmup in two lines.
#pragma once

#include <string>

#include "rehmc/summary/warmup_summary.hpp"

namespace rehmc::cli {

/// Empty if nothing is known of warmup.
std::string warmup_text(const WarmupSummary& warmup);

}  // namespace rehmc::cli
