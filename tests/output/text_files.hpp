// Tools for tests of files: a folder that goes away, stored samples, and what an error must say.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"

namespace rehmc::testing {

/// A folder of its own for one test, removed at its end.
class TextFiles {
 public:
  TextFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "rehmc-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    folder_ = name;
  }
  ~TextFiles() { std::filesystem::remove_all(folder_); }
  TextFiles(const TextFiles&) = delete;
  TextFiles& operator=(const TextFiles&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

 private:
  std::filesystem::path folder_;
};

inline std::filesystem::path data_file(const std::string& name) {
  return std::filesystem::path(REHMC_TEST_DATA) / name;
}

/// The call must throw a DataError that names the file first and holds all these parts.
template <class Call>
void expect_data_error(const Call& call, const std::string& file,
                       const std::vector<std::string>& parts) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one that says " << ::testing::PrintToString(parts);
  } catch (const DataError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(file + ": ")) << message;
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
    }
  }
}

}  // namespace rehmc::testing
