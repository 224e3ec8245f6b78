// A shared library of code, loaded while the program runs, with errors that say what is wrong.
#pragma once

#include <filesystem>

namespace rehmc {

/// Stays loaded until the program ends, since threads may still hold what belongs to it.
class SharedLibrary {
 public:
  /// NoInputError if there is no such file; DataError if it is not a shared library, was made for
  /// another machine, or needs what this one lacks.
  explicit SharedLibrary(std::filesystem::path path);

  const std::filesystem::path& path() const noexcept { return path_; }

  /// The address of a function or a number; nullptr if the library has none of that name.
  void* find(const char* name) const;

  /// The same as a function of this type.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(find(name));
  }

 private:
  std::filesystem::path path_;
  void* handle_ = nullptr;
};

}  // namespace rehmc
