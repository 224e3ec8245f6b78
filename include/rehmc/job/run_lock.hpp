// One writer per run folder.
#pragma once

#include <filesystem>
#include <string>

#include "rehmc/core/file_lock.hpp"
#include "rehmc/output/run_folder.hpp"

namespace rehmc {

/// The right to write into a run folder. However its process ends, the system gives it back.
class RunLock {
 public:
  /// CreateError if another process has it, with that process and its host; or if the folder cannot
  /// be written.
  explicit RunLock(const RunFolder& folder);
  RunLock(RunLock&&) = default;
  RunLock& operator=(RunLock&&) = delete;
  ~RunLock();

 private:
  std::filesystem::path path_;
  FileLock lock_;
};

/// Whether a process of rehmc has the lock, or ended without giving it back.
bool was_locked(const RunFolder& folder);

/// Who is writing into the folder, as in "process 123 on host"; empty if nobody is.
std::string writer_of(const RunFolder& folder);

}  // namespace rehmc
