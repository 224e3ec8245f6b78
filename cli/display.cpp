// The progress display: reads the job's counters a few times a second.
#include "display.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace rehmc::cli {

namespace {

using Clock = std::chrono::steady_clock;

/// A number in JSON.
std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::string("null");
}

void print(const JsonLine& line, const WorstConvergence& worst) {
  tell("{},\"worst_rhat\":{},\"worst_ess\":{},{}\n", line.before, number(worst.rhat),
       number(worst.ess), line.after);
  std::fflush(stderr);
}

/// The counters at one moment.
struct Snapshot {
  std::uint64_t gradients = 0;
  std::uint64_t iterations = 0;
  std::uint64_t goal = 0;
  std::uint64_t divergences = 0;
};

Snapshot snapshot(const Progress& progress) {
  Snapshot now;
  for (const ChainProgress& chain : progress.chains) {
    const std::uint64_t each = chain.warmup + progress.draws;
    now.gradients += chain.gradients;
    now.iterations += std::min<std::uint64_t>(chain.iteration, each);
    now.divergences += chain.divergences;
    now.goal += each;
  }
  return now;
}

/// Shows snapshots; keeps what it needs to compute rates and to check convergence only rarely.
class Painter {
 public:
  Painter(const Job& job, ProgressKind kind, const CmdstanLines& lines)
      : job_(job), kind_(kind), lines_(lines), begin_(Clock::now()) {
    if (kind == ProgressKind::plain) next_line_ = begin_ + std::chrono::seconds(2);
  }

  /// The last line of JSON, which waits for the summary's R-hat and ESS; else empty.
  JsonLine take_last_line() { return std::move(last_line_); }

  void paint(bool last) {
    const Snapshot now = snapshot(job_.progress());
    if (!first_) first_ = now;
    switch (kind_) {
      case ProgressKind::terminal:
        look();
        paint_terminal(now);
        break;
      case ProgressKind::plain:
        paint_plain(now, last);
        break;
      case ProgressKind::json:
        look();
        paint_json(now, last);
        break;
      case ProgressKind::cmdstan:
        paint_cmdstan();
        break;
      case ProgressKind::none:
        break;
    }
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  double rate(const Snapshot& now) const {
    return static_cast<double>(now.gradients - first_->gradients) / std::max(1e-9, elapsed());
  }
  double left(const Snapshot& now) const {
    const auto done = static_cast<double>(now.iterations - first_->iterations);
    const auto to_do = static_cast<double>(now.goal - now.iterations);
    return done > 0 ? elapsed() * to_do / done : std::nan("");
  }

  /// Updates R-hat and ESS of a few parameters in turn, as many as fit into a small share of the
  /// time that has passed: this takes longer the more draws there are, and the chains need the
  /// time.
  void look() {
    constexpr double share = 0.002;
    constexpr std::size_t most_watched = 32;
    // Scalar 0 is the log density, which is no parameter.
    const std::size_t watched = std::min(job_.scalars() - 1, most_watched);
    if (watched == 0) return;
    known_.resize(watched);
    const auto draws = static_cast<double>(job_.draws_so_far());
    while (spent_ + seconds_per_draw_ * draws < share * elapsed()) {
      const auto begin = Clock::now();
      const auto seen = job_.converges(next_ + 1);
      if (!seen) return;
      known_[next_] = *seen;
      next_ = (next_ + 1) % watched;
      const double took = std::chrono::duration<double>(Clock::now() - begin).count();
      spent_ += took;
      seconds_per_draw_ = std::max(seconds_per_draw_, took / draws);
      if (next_ == 0) break;
    }
    worst_ = {};
    for (const auto& scalar : known_) {
      if (scalar) worst_.add(*scalar);
    }
  }

  std::string status(const Snapshot& now) const {
    std::string text = fmt::format("{} gradients, {}/s", grouped(now.gradients),
                                   grouped(static_cast<std::uint64_t>(rate(now))));
    if (std::isfinite(worst_.rhat) && std::isfinite(worst_.ess)) {
      text += fmt::format(", worst R-hat {:.3f}, worst ESS {}", worst_.rhat,
                          grouped(static_cast<std::uint64_t>(worst_.ess)));
    }
    if (now.divergences > 0) {
      text += fmt::format(", {} divergence{}", now.divergences, now.divergences == 1 ? "" : "s");
    }
    if (now.iterations < now.goal) text += ", " + duration_text(left(now)) + " left";
    return text;
  }

  std::string chain_line(std::size_t c) const {
    const Progress& progress = job_.progress();
    const ChainProgress& chain = progress.chains[c];
    const std::uint64_t iteration = chain.iteration;
    const bool warming_up = iteration < chain.warmup;
    const std::uint64_t goal = chain.warmup + progress.draws;
    constexpr int bar = 24;
    const int filled =
        static_cast<int>(std::min<std::uint64_t>(bar, goal == 0 ? bar : bar * iteration / goal));
    std::string text =
        fmt::format("chain {:<3} {:<7} [{}{}] {:>7}/{}", c + 1,
                    !chain.begun        ? "waiting"
                    : warming_up        ? "warmup"
                    : iteration >= goal ? "done"
                                        : "sample",
                    std::string(filled, '#'), std::string(bar - filled, '.'), iteration, goal);
    if (chain.begun) {
      text += fmt::format("  step {:<8} depth {:<2} div {}", brief(chain.step_size),
                          chain.depth.load(), chain.divergences.load());
    }
    return text;
  }

  void paint_terminal(const Snapshot& now) {
    constexpr std::size_t most_lines = 16;
    const std::size_t chains = job_.progress().chains.size();
    std::vector<std::string> lines;
    for (std::size_t c = 0; c < std::min(chains, most_lines); ++c) lines.push_back(chain_line(c));
    if (chains > most_lines) {
      lines.push_back(fmt::format("... and {} more chains", chains - most_lines));
    }
    lines.push_back(status(now));
    winsize size{};
    const std::size_t width =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1U : 79;
    std::string text;
    if (painted_lines_ > 0) text += fmt::format("\033[{}A", painted_lines_);
    for (const std::string& line : lines) text += "\r\033[K" + line.substr(0, width) + "\n";
    painted_lines_ = lines.size();
    write_controls(text);
    std::fflush(stderr);
  }

  /// At most one line per 10% of the run, and one every two seconds.
  void paint_plain(const Snapshot& now, bool last) {
    const std::uint64_t tenth = now.goal == 0 ? 10 : 10 * now.iterations / now.goal;
    const bool due = tenth > last_tenth_ && Clock::now() >= next_line_;
    if (!due && !(last && last_tenth_ < 10)) return;
    if (last) look();
    last_tenth_ = tenth;
    next_line_ = Clock::now() + std::chrono::seconds(2);
    tell("{:>3}%  {}\n", now.goal == 0 ? 100 : 100 * now.iterations / now.goal, status(now));
    std::fflush(stderr);
  }

  void paint_json(const Snapshot& now, bool last) {
    if (Clock::now() < next_line_ && !last) return;
    next_line_ = Clock::now() + std::chrono::milliseconds(500);
    const Progress& progress = job_.progress();
    std::string chains;
    for (const ChainProgress& chain : progress.chains) {
      chains += fmt::format(
          "{}{{\"phase\":\"{}\",\"iteration\":{},\"step_size\":{},\"depth\":{},\"divergences\":{}}"
          "}",
          chains.empty() ? "" : ",",
          !chain.begun                     ? "waiting"
          : chain.iteration < chain.warmup ? "warmup"
                                           : "sampling",
          chain.iteration.load(), number(chain.step_size), chain.depth.load(),
          chain.divergences.load());
    }
    JsonLine line{
        fmt::format("{{\"elapsed\":{},\"iterations\":{},\"goal\":{},\"gradients\":{},"
                    "\"gradients_per_second\":{}",
                    number(elapsed()), now.iterations, now.goal, now.gradients, number(rate(now))),
        fmt::format("\"divergences\":{},\"seconds_left\":{},\"chains\":[{}]}}", now.divergences,
                    number(left(now)), chains)};
    if (last) {
      last_line_ = std::move(line);
    } else {
      print(line, worst_);
    }
  }

  /// The lines of CmdStan, on standard output: the first iteration, every `refresh`-th, the first
  /// after warmup, and the last.
  void paint_cmdstan() {
    const Progress& progress = job_.progress();
    if (lines_.refresh == 0) return;
    printed_.resize(progress.chains.size(), 0);
    for (std::size_t c = 0; c < progress.chains.size(); ++c) {
      const ChainProgress& chain = progress.chains[c];
      const std::uint64_t goal = chain.warmup + progress.draws;
      const std::uint64_t reached = std::min<std::uint64_t>(chain.iteration, goal);
      for (std::uint64_t i = printed_[c] + 1; i <= reached; ++i) {
        if (i != 1 && i != goal && i != chain.warmup + 1 && i % lines_.refresh != 0) continue;
        const std::string name =
            lines_.first > 0 ? fmt::format("Chain [{}] ", lines_.first + c) : "";
        cli::print("{}Iteration: {:>{}} / {} [{:>3}%]  ({})\n", name, i,
                   std::to_string(goal).size(), goal, 100 * i / goal,
                   i <= chain.warmup ? "Warmup" : "Sampling");
      }
      printed_[c] = reached;
    }
    std::fflush(stdout);
  }

  const Job& job_;
  ProgressKind kind_;
  CmdstanLines lines_;
  std::vector<std::uint64_t> printed_;  ///< iterations of each chain that had their line
  Clock::time_point begin_;
  Clock::time_point next_line_{};
  std::optional<Snapshot> first_;
  std::vector<std::optional<Convergence>> known_;
  std::size_t next_ = 0;            ///< scalar to check
  double spent_ = 0;                ///< seconds spent on checks
  double seconds_per_draw_ = 3e-7;  ///< cost of a check; updated
  WorstConvergence worst_;
  JsonLine last_line_;
  std::size_t painted_lines_ = 0;
  std::uint64_t last_tenth_ = 0;
};

}  // namespace

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto s = static_cast<long long>(std::llround(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

ProgressKind parse_progress(std::string_view name) {
  if (name == "auto") return can_redraw() ? ProgressKind::terminal : ProgressKind::plain;
  if (name == "plain") return ProgressKind::plain;
  if (name == "json") return ProgressKind::json;
  if (name == "none") return ProgressKind::none;
  if (name.starts_with("cmdstan:")) return ProgressKind::cmdstan;
  throw ConfigError(
      fmt::format("progress: found '{}', expected one of auto, plain, json, none", name));
}

CmdstanLines parse_cmdstan_lines(std::string_view progress) {
  CmdstanLines lines;
  if (!progress.starts_with("cmdstan:")) return lines;
  progress.remove_prefix(progress.find(':') + 1);
  const char* const end = progress.data() + progress.size();
  const auto [colon, error] = std::from_chars(progress.data(), end, lines.refresh);
  if (error == std::errc{} && colon != end) std::from_chars(colon + 1, end, lines.first);
  return lines;
}

Display::Display(const Job& job, std::string_view progress)
    : job_(job), kind_(parse_progress(progress)), lines_(parse_cmdstan_lines(progress)) {
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    // No thread, no display: the run does not need it.
  }
}

Display::~Display() {
  stop();
  conclude({});
}

void Display::conclude(const std::vector<ParameterSummary>& parameters) {
  if (last_line_.before.empty()) return;
  WorstConvergence worst;
  for (const ParameterSummary& row : parameters) worst.add(row.convergence);
  print(last_line_, worst);
  last_line_ = {};
}

double Display::stop() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  return seconds_;
}

void Display::watch() {
  try {
    Painter painter(job_, kind_, lines_);
    std::unique_lock lock(mutex_);
    while (!over_) {
      painter.paint(false);
      wake_.wait_for(lock, std::chrono::milliseconds(200), [&] { return over_; });
    }
    painter.paint(true);
    last_line_ = painter.take_last_line();
  } catch (const std::exception& error) {
    // Too little memory for the display; if the run needs more than there is, it will say so.
    write_message("rehmc: the progress display ended: ");
    write_message(error.what());
    write_message("\n");
  }
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  seconds_ = static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace rehmc::cli
