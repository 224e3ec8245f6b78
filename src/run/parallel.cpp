// A pool of threads that take chains one after the other.
#include "parallel.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace rehmc {

std::size_t thread_count(const SampleSettings& settings) {
  const auto wanted = settings.threads > 0 ? static_cast<unsigned>(settings.threads)
                                           : std::max(1U, std::thread::hardware_concurrency());
  return std::min<std::size_t>(wanted, static_cast<std::size_t>(settings.chains));
}

void for_each_chain(std::size_t chains, std::size_t threads, std::atomic<bool>& failed,
                    const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> errors(chains);
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t chain = next++; chain < chains && !failed; chain = next++) {
      try {
        work(chain);
      } catch (...) {
        errors[chain] = std::current_exception();
        failed = true;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(run);
    run();
  }
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace rehmc
