// A run folder for readers that need one; it ends with the process.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "rehmc/output/run_folder.hpp"

namespace rehmc::fuzz {

/// In memory if there is such a place.
inline const RunFolder& run_folder() {
  struct Folder {
    std::filesystem::path path;
    RunFolder run;
    Folder()
        : path((std::filesystem::exists("/dev/shm") ? "/dev/shm"
                                                    : std::filesystem::temp_directory_path()) /
               ("rehmc-fuzz-" + std::to_string(::getpid()))),
          run(path) {
      std::filesystem::create_directory(path);
    }
    ~Folder() { std::filesystem::remove_all(path); }
  };
  static const Folder folder;
  return folder.run;
}

}  // namespace rehmc::fuzz
