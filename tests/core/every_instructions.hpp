// Repeats a computation with all vector instructions that the processor has, for tests of its bits.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <iomanip>
#include <vector>

#include "rehmc/core/instructions.hpp"

namespace rehmc::testing {

/// Calls `visit` with each of them in use.
template <class Visit>
void for_all_instructions(const Visit& visit) {
  const Instructions before = instructions();
  for (const Instructions each :
       {Instructions::baseline, Instructions::avx2, Instructions::avx512}) {
    use_instructions(each);
    if (instructions() == each) visit(each);
  }
  use_instructions(before);
}

/// Whether the numbers that `compute` returns have the same bits each time.
template <class Compute>
::testing::AssertionResult same_bits(const Compute& compute) {
  std::vector<double> first;
  ::testing::AssertionResult result = ::testing::AssertionSuccess();
  for_all_instructions([&](Instructions each) {
    const std::vector<double> numbers = compute();
    if (each == Instructions::baseline) {
      first = numbers;
      return;
    }
    if (numbers.size() != first.size()) {
      result = ::testing::AssertionFailure() << describe(each) << ": " << numbers.size()
                                             << " numbers instead of " << first.size();
      return;
    }
    for (std::size_t i = 0; i < numbers.size() && result; ++i) {
      if (std::memcmp(&numbers[i], &first[i], sizeof(double)) == 0) continue;
      result = ::testing::AssertionFailure()
               << std::setprecision(17) << describe(each) << ": number " << i << " is "
               << numbers[i] << " instead of " << first[i];
    }
  });
  return result;
}

}  // namespace rehmc::testing
