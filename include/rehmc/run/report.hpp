// The report: one self-contained page about a run.
#pragma once

#include <string>
#include <vector>

#include "rehmc/output/sample_result.hpp"
#include "rehmc/run/run_summary.hpp"

namespace rehmc {

/// A state of the trajectory that the report draws: its first two coordinates.
struct TracedState {
  double x = 0;
  double y = 0;
  double weight = 0;      ///< within the trajectory; 0 for states of a half that was dropped
  int slots = 0;          ///< how often recycling kept it
  bool dropped = false;   ///< belongs to a half that turned or diverged inside
  bool selected = false;  ///< the next state of the chain
};

/// One trajectory in path order; `start` is the index of the state it began at.
struct TracedTrajectory {
  std::vector<TracedState> states;
  std::size_t start = 0;
};

/// What the report says beyond the draws.
struct ReportInfo {
  std::string title;            ///< the model's name
  std::string version;          ///< of rehmc
  std::string date;             ///< when the run began, UTC
  std::string command;          ///< how to run it again
  std::string settings_json;    ///< an object: name -> value, in the order to show them
  TracedTrajectory trajectory;  ///< may be empty
};

/// The page, as HTML. Whatever the size of the run, it stays under 6 MB.
std::string report_page(const SampleResult& result, const RunSummary& summary,
                        const ReportInfo& info);

}  // namespace rehmc
