// Recycled states as a file of Apache Arrow, which dataframe libraries map into memory.
#pragma once

#include <cstdint>
#include <string>

#include "rehmc/output/sample_result.hpp"

namespace rehmc {

/// The contents of an Arrow IPC file ("Feather version 2") without compression: one record batch
/// for each chain, with the columns of recycled_csv(), whose quantities have the names that Stan's
/// users know. Unknown columns are NaN.
std::string recycled_arrow(const SampleResult& result, std::uint64_t thin);

}  // namespace rehmc
