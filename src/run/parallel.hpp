// Chains in threads: who runs next, and what happens when one fails.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "rehmc/run/sample.hpp"

namespace rehmc {

/// As many threads as the settings ask for, and no more than there are chains.
std::size_t thread_count(const SampleSettings& settings);

/// Calls `work(chain)` for every chain, in so many threads, in order of their numbers. When one
/// throws, `failed` is set and no other begins; when all are back, the error of the first chain
/// that failed is thrown.
void for_each_chain(std::size_t chains, std::size_t threads, std::atomic<bool>& failed,
                    const std::function<void(std::size_t)>& work);

}  // namespace rehmc
