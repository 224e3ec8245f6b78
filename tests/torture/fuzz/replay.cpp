// Reads every file of the corpus by its reader: replay CORPUS [READER].
//
// A bug ends the process by a signal. A reader that accepts none of its files would test nothing:
// if the format of a file has changed, make_seeds writes its seeds again.
#include <cstdio>
#include <filesystem>
#include <string>

#include "reader.hpp"
#include "rehmc/core/files.hpp"

namespace {

/// Whether the reader accepted at least one of its files.
bool replay(const rehmc::fuzz::Reader& reader, const std::filesystem::path& folder) {
  std::size_t inputs = 0;
  std::size_t accepted = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++inputs;
    accepted += rehmc::fuzz::read_or_refuse(reader, rehmc::read_file(entry.path())) ? 1 : 0;
  }
  std::printf("%s: %zu inputs, %zu accepted\n", std::string(reader.name).c_str(), inputs, accepted);
  return accepted > 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 64;
  const std::string only = count > 2 ? words[2] : "";
  bool all = true;
  bool any = false;
  for (const rehmc::fuzz::Reader& reader : rehmc::fuzz::readers()) {
    if (!only.empty() && only != reader.name) continue;
    any = true;
    all = replay(reader, std::filesystem::path(words[1]) / reader.name) && all;
  }
  return any && all ? 0 : 1;
}
