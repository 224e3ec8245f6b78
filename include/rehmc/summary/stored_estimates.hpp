// The estimates of a run as bytes, so that they need not be computed again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rehmc/summary/run_summary.hpp"

namespace rehmc {

/// What took time in a summary of stored draws: the estimates and the checks of gradients. `key`
/// stands for everything that they were computed from.
std::string archive_estimates(const RunSummary& summary, const SampleResult& result,
                              std::string_view key);

/// The summary that was archived with this key, of the same result. None if the bytes are damaged,
/// or archived with another key. The result learns how often its model failed for kept states.
std::optional<RunSummary> restore_summary(std::string_view bytes, std::string_view key,
                                          SampleResult& result);

}  // namespace rehmc
