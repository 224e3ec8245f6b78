// Shows the progress of a run: lines on a terminal, plain lines, or JSON lines.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "rehmc/job/job.hpp"

namespace rehmc::cli {

/// Such as "40 s", "3 min 05 s", "2 h 10 min".
std::string duration_text(double seconds);

enum class ProgressKind { terminal, plain, json, none };

/// "auto" (lines on a terminal if stderr is one, else plain), "plain", "json" or "none".
ProgressKind parse_progress(std::string_view name);

/// Shows the progress of a job on stderr from construction to destruction, in its own thread, which
/// is nearly always asleep.
class Display {
 public:
  Display(const Job& job, ProgressKind kind);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  /// Ends the display; returns how much processor time it took.
  double stop();

 private:
  void watch();

  const Job& job_;
  ProgressKind kind_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  double seconds_ = 0;  ///< of processor time, once over
  std::thread thread_;
};

}  // namespace rehmc::cli
