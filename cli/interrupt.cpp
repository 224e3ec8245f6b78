// Signal handlers.
#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "rehmc/core/error.hpp"

namespace rehmc::cli {

namespace {

std::atomic<int> interrupts = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // or a handler could not use it

extern "C" void count_interrupt(int) {
  if (++interrupts >= 2) _exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace

const std::atomic<int>& catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = count_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // Exceeding the user's file size limit is a write error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return interrupts;
}

}  // namespace rehmc::cli
