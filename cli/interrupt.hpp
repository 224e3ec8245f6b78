// Ctrl-C and SIGTERM: the first stops the run cleanly, the second immediately.
#pragma once

#include <atomic>

namespace rehmc::cli {

/// From now on signals are counted here instead of ending the program; the second one ends it with
/// exit code 130. The run can be resumed from what is stored by then.
const std::atomic<int>& catch_interrupts();

}  // namespace rehmc::cli
