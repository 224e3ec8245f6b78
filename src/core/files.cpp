// Reading whole files.
#include "rehmc/core/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "rehmc/core/error.hpp"

namespace rehmc {

std::string read_file(const std::filesystem::path& path) {
  const auto fail = [&] {
    return NoInputError(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) throw fail();
  std::string text;
  char block[1 << 16];
  for (;;) {
    const std::size_t count = std::fread(block, 1, sizeof block, file.get());
    text.append(block, count);
    if (count == sizeof block) continue;
    if (std::ferror(file.get()) != 0) throw fail();  // a folder can be opened, but not read
    return text;
  }
}

}  // namespace rehmc
