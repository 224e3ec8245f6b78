// Creates the folder, and removes it if an error left its files incomplete.
#include "new_folder.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "rehmc/core/error.hpp"

namespace rehmc::cli {

namespace {

CreateError already_there(const std::filesystem::path& path) {
  return CreateError(fmt::format("{}: exists; choose another --output", path.string()));
}

}  // namespace

void NewFolder::require_free(const std::filesystem::path& path) {
  if (std::filesystem::exists(std::filesystem::symlink_status(path))) throw already_there(path);
}

NewFolder::NewFolder(std::filesystem::path path) : path_(std::move(path)) {
  if (!path_.has_filename()) path_ = path_.parent_path();  // NAME/ is NAME
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path());
  // What another process has created since is not ours to remove.
  if (!std::filesystem::create_directory(path_)) throw already_there(path_);
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!kept_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace rehmc::cli
