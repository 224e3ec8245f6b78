// Shows the progress of a run: lines on a terminal, plain lines, or JSON lines.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rehmc/job/job.hpp"
#include "rehmc/summary/summary.hpp"

namespace rehmc::cli {

/// Such as "40 s", "3 min 05 s", "2 h 10 min".
std::string duration_text(double seconds);

/// A line of JSON, cut where R-hat and ESS belong.
struct JsonLine {
  std::string before;
  std::string after;
};

enum class ProgressKind { terminal, plain, json, none, cmdstan };

/// How CmdStan's lines name iterations.
struct CmdstanLines {
  std::uint64_t refresh = 100;  ///< iterations between lines; 0 for none
  std::uint64_t first = 0;      ///< number of the first chain, if lines name it; else 0
};

/// "cmdstan:REFRESH:FIRST".
CmdstanLines parse_cmdstan_lines(std::string_view progress);

/// "auto" (lines on a terminal if stderr is one, else plain), "plain", "json" or "none".
ProgressKind parse_progress(std::string_view name);

/// Shows the progress of a job on stderr from construction to destruction, in its own thread, which
/// is nearly always asleep.
class Display {
 public:
  /// `progress` as in parse_progress().
  Display(const Job& job, std::string_view progress);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  /// Ends the display, which must not outlive the job; returns how much processor time it took.
  double stop();
  /// Prints what waits for the end of the run: the last line of JSON, whose R-hat and ESS are those
  /// of the summary. The destructor prints it without them.
  void conclude(const std::vector<ParameterSummary>& parameters);

 private:
  void watch();

  const Job& job_;
  ProgressKind kind_;
  CmdstanLines lines_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  JsonLine last_line_;
  double seconds_ = 0;  ///< of processor time, once over
  std::thread thread_;
};

}  // namespace rehmc::cli
