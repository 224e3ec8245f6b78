// A result as bytes, sealed by a checksum: how fits are saved.
#pragma once

#include <string>
#include <string_view>

#include "rehmc/output/sample_result.hpp"

namespace rehmc {

std::string archive_result(const SampleResult& result);

/// DataError if archive_result() of this version did not write these bytes, if they were changed
/// since, or if what they hold does not fit together.
SampleResult restore_result(std::string_view bytes);

}  // namespace rehmc
