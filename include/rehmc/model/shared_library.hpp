// A shared library that is loaded at run time, with errors that explain what is wrong.
#pragma once

#include <filesystem>

namespace rehmc {

/// Stays loaded until the program ends, because threads may still use it.
class SharedLibrary {
 public:
  /// NoInputError if the file does not exist; DataError if it is not a shared library, was built
  /// for another machine, or cannot be loaded on this one.
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
