// Reads the quantities of kept states of a stored run again.
#pragma once

#include <cstddef>
#include <vector>

#include "rehmc/job/manifest.hpp"
#include "rehmc/output/sample_result.hpp"

namespace rehmc::cli {

/// Opens the model of the run, if it computes quantities, and reads those that the run summarised,
/// and the columns asked for.
/// If the model cannot be opened, a note says why, and that there are only plain estimates.
void read_kept_again(const RunFolder& folder, const Manifest& manifest, SampleResult& result,
                     const std::vector<std::size_t>& asked = {});

}  // namespace rehmc::cli
