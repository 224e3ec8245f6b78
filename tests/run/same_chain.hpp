// Compares two chains in memory, to the bit, for tests of what must not change draws.
#pragma once

#include <gtest/gtest.h>

#include "rehmc/output/sample_result.hpp"
#include "tests/output/records.hpp"

namespace rehmc::testing {

/// All that does not depend on what is kept.
inline void expect_same_chain(const ChainResult& a, const ChainResult& b) {
  expect_same_draws(a.record, b.record);
  EXPECT_EQ(a.record.centre, b.record.centre);
  EXPECT_EQ(a.record.mean_offset, b.record.mean_offset);
  EXPECT_EQ(a.record.mean_square, b.record.mean_square);
  EXPECT_EQ(a.record.divergences.size(), b.record.divergences.size());
  EXPECT_EQ(a.tuning.step_size, b.tuning.step_size);
  EXPECT_EQ(a.tuning.metric->numbers(), b.tuning.metric->numbers());
  EXPECT_EQ(a.gradients_warmup, b.gradients_warmup);
  EXPECT_EQ(a.gradients_sampling, b.gradients_sampling);
  EXPECT_EQ(a.divergences_warmup, b.divergences_warmup);
  EXPECT_EQ(a.faults, b.faults);
  EXPECT_EQ(a.first_message, b.first_message);
}

}  // namespace rehmc::testing
