// Signal handlers.
#include "interrupt.hpp"

#include <time.h>  // NOLINT(modernize-deprecated-headers): POSIX timers
#include <unistd.h>

#include <csignal>

#include <string_view>

#include "rehmc/core/error.hpp"
#include "stan/process.hpp"

namespace rehmc::cli {

namespace {

std::atomic<int> interrupts = 0;
std::atomic<bool> ends_at_once = false;
std::atomic<bool> has_timer = false;
// A handler must not use them otherwise.
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// What a handler may read, set before there is a handler.
std::string farewell_text;
timer_t deadline_timer;

/// A little less than the second that was promised.
constexpr long patience_nanoseconds = 800'000'000;

/// Everything on the disk is valid at any time, so there is nothing to clean up.
[[noreturn]] void end_now() {
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, farewell_text.data(), farewell_text.size());
  _exit(static_cast<int>(ExitCode::interrupted));
}

extern "C" void count_interrupt(int) {
  if (++interrupts >= 2 || ends_at_once) end_now();
  if (!has_timer) return;
  itimerspec when{};
  when.it_value.tv_nsec = patience_nanoseconds;
  timer_settime(deadline_timer, 0, &when, nullptr);
}

/// While nothing is sampled there is nothing to say but this.
extern "C" void end_with_program(int) {
  stan::end_program();
  constexpr std::string_view text = "rehmc: interrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  _exit(static_cast<int>(ExitCode::interrupted));
}

extern "C" void end_at_deadline(int) { end_now(); }

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void end_at_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) handle(signal, end_with_program);
  }
}

const std::atomic<int>& catch_interrupts(const std::string& farewell) {
  farewell_text = farewell;
  handle(SIGALRM, end_at_deadline);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  has_timer = !farewell.empty() && timer_create(CLOCK_MONOTONIC, &event, &deadline_timer) == 0;
  handle(SIGINT, count_interrupt);
  handle(SIGTERM, count_interrupt);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, count_interrupt);
  return interrupts;
}

void end_at_first_interrupt() { ends_at_once = true; }

}  // namespace rehmc::cli
