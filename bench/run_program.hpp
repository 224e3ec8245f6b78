// The body of a benchmark's main: an error ends it with a message.
#pragma once

#include <cstdio>
#include <exception>

namespace rehmc::bench {

/// What `run(count, words)` returns, or 1 after it has thrown.
template <class Run>
int run_program(Run&& run, int count, char** words) {
  try {
    return run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", words[0], error.what());
    return 1;
  }
}

}  // namespace rehmc::bench
