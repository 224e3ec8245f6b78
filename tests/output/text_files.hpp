// Tools for tests of files: texts to read, stored samples, and checks of errors.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "tests/output/folder.hpp"

namespace rehmc::testing {

/// Files in a folder of their own for one test.
class TextFiles {
 public:
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

 private:
  Folder folder_;
};

inline std::filesystem::path data_file(const std::string& name) {
  return std::filesystem::path(REHMC_TESTS "/output/data") / name;
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
