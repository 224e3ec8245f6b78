// The data of the report's page, as JSON that is safe inside a script element.
#pragma once

#include <string>

#include "rehmc/report/report.hpp"

namespace rehmc::report {

std::string report_data(const SampleResult& result, const RunSummary& run, const ReportInfo& info);

}  // namespace rehmc::report
