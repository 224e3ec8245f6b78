// The report: one self-contained page about a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rehmc/output/sample_result.hpp"
#include "rehmc/report/trajectory.hpp"
#include "rehmc/summary/run_summary.hpp"

namespace rehmc {

/// A setting as the report shows it.
struct ReportSetting {
  std::string name;  ///< of the option, without dashes
  std::string value;
  std::string standard{};  ///< the default
  bool differs = false;    ///< from the default, or was given although it is the default
};

/// Data that draws replicate, and the observed ones.
struct PredictiveCheck {
  std::string name;                  ///< of the replicated variable
  std::vector<std::size_t> columns;  ///< of its elements
  std::vector<double> observed;
};

/// What the report shows besides draws and summary.
struct ReportInfo {
  std::string title;                    ///< the model's name
  std::string version;                  ///< of rehmc
  std::string date;                     ///< when the run started, UTC
  std::string command;                  ///< that reproduces the run
  std::vector<ReportSetting> settings;  ///< in the order to show them
  TracedTrajectory trajectory;          ///< may be empty
  std::vector<PredictiveCheck> predictive{};
};

/// The page as HTML, under 6 MB whatever the size of the run.
std::string report_page(const SampleResult& result, const RunSummary& summary,
                        const ReportInfo& info);

}  // namespace rehmc
