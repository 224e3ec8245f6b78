// Errors carry their message and the exit code of their kind, through the base class too.
#include "rehmc/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rehmc::error_test {
namespace {

template <class Kind>
void expect_code(ExitCode code, int number) {
  try {
    throw Kind("step_size: found -1");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(static_cast<int>(error.code()), number);
    EXPECT_STREQ(error.what(), "step_size: found -1");
  }
}

TEST(Error, each_kind_has_its_exit_code) {
  expect_code<ConfigError>(ExitCode::config, 78);
  expect_code<DataError>(ExitCode::data, 65);
  expect_code<ModelError>(ExitCode::software, 70);
  expect_code<SystemError>(ExitCode::system, 71);
}

TEST(Error, is_a_standard_runtime_error) {
  EXPECT_THROW(throw DataError("short"), std::runtime_error);
}

}  // namespace
}  // namespace rehmc::error_test
