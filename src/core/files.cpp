// Reading files.
#include "rehmc/core/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "rehmc/core/error.hpp"

namespace rehmc {

void read_pieces(const std::filesystem::path& path,
                 const std::function<void(std::string_view piece)>& take) {
  const auto fail = [&] {
    return NoInputError(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) throw fail();
  char block[1 << 16];
  for (;;) {
    const std::size_t count = std::fread(block, 1, sizeof block, file.get());
    take({block, count});
    if (count == sizeof block) continue;
    if (std::ferror(file.get()) != 0) throw fail();  // a folder can be opened, but not read
    return;
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::string text;
  read_pieces(path, [&](std::string_view piece) { text.append(piece); });
  return text;
}

}  // namespace rehmc
