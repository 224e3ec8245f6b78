// Keeps libraries in the cache, each in a folder named by its content.
#include "stan/kept_library.hpp"

#include <system_error>

#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/output/durable_file.hpp"
#include "stan/cache.hpp"

namespace rehmc::stan {
namespace {

namespace files = std::filesystem;

files::path folder_of(const std::string& hash) { return cache_folder() / "libraries" / hash; }

bool holds(const files::path& folder, const std::string& hash) {
  std::error_code error;
  const files::path library = folder / library_name;
  return files::is_regular_file(library, error) && content_hash(read_file(library)) == hash;
}

}  // namespace

bool is_hash(const std::string& text) {
  return text.size() == content_hash("").size() &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void keep_library(const files::path& library) {
  const std::string content = read_file(library);
  const std::string hash = content_hash(content);
  make_cached(
      folder_of(hash), [&](const files::path& folder) { return holds(folder, hash); },
      [&](const files::path& folder) { write_whole(folder / library_name, content); });
}

files::path kept_library(const std::string& hash) {
  if (!is_hash(hash)) return {};
  const files::path folder = folder_of(hash);
  return holds(folder, hash) ? folder / library_name : files::path();
}

}  // namespace rehmc::stan
