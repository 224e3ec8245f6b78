// Expectations of runs that must not be sharpened, or must warn.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "rehmc/summary/run_summary.hpp"

namespace rehmc::testing {

inline bool warns_of(const RunSummary& summary, const std::string& kind) {
  for (const Warning& warning : summary.diagnostics.warnings) {
    if (warning.kind == kind) return true;
  }
  return false;
}

inline void expect_refused(const RunSummary& summary) {
  EXPECT_NE(summary.sharpening.refused, "");
  for (const ParameterSummary& row : summary.parameters) {
    EXPECT_FALSE(row.sharpened.has_value());
    EXPECT_NE(row.not_sharpened, "");
  }
}

}  // namespace rehmc::testing
