// Ctrl-C, SIGTERM and SIGHUP: the first ends the run cleanly if that is quick, the second at once.
#pragma once

#include <atomic>
#include <string>

namespace rehmc::cli {

/// From now on a signal ends the program at once, with exit code 130, and with it the program that
/// it runs, for example a compiler. Signals that were ignored stay so.
void end_at_interrupts();

/// From now on signals are counted here instead of ending the program, which then has a second to
/// end by itself. If it does not, or with the second signal, it ends with exit code 130 after
/// printing `farewell`. The run can be resumed from what is stored by then. SIGHUP counts unless it
/// was ignored, as under nohup.
const std::atomic<int>& catch_interrupts(const std::string& farewell = "");

/// From now on the first signal ends the program at once: everything that cannot be computed again
/// is stored.
void end_at_first_interrupt();

}  // namespace rehmc::cli
