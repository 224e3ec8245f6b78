// Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends at once.
#pragma once

#include <atomic>

namespace rehmc::cli {

/// From now on signals are counted here instead of ending the program; at the second one it ends
/// with exit code 130. All that was stored by then can be resumed.
const std::atomic<int>& catch_interrupts();

}  // namespace rehmc::cli
