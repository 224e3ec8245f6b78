// Empty records of a given number of columns, for tests that fill them by hand.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rehmc/output/chain_record.hpp"

namespace rehmc::testing {

inline ChainRecord empty_record(std::size_t columns, std::size_t draws) {
  QuantityReader reader(
      FunctionDensity(columns, [](std::span<const double>, std::span<double>) { return 0.0; }), {});
  reader.set_centre(std::vector<double>(columns, 0.0));
  return ChainRecord(reader, draws);
}

}  // namespace rehmc::testing
