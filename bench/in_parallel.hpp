// Runs numbered pieces of work in threads, each taking the next one that is left.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace rehmc::bench {

/// work(0), ..., work(count - 1), in this many threads, or one per core if 0. Throws what the
/// first piece that failed threw, after the others have ended.
template <class Work>
void in_parallel(int count, int threads, Work&& work) {
  std::atomic<int> next = 0;
  std::exception_ptr error;
  std::mutex mutex;
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> running;
  for (int t = 0; t < (threads > 0 ? threads : cores); ++t) {
    running.emplace_back([&] {
      for (int piece = next++; piece < count; piece = next++) {
        try {
          work(piece);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!error) error = std::current_exception();
          next = count;
        }
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace rehmc::bench
