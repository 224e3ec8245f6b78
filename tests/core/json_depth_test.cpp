// The bound on how deeply JSON is nested.
#include "rehmc/core/json_depth.hpp"

#include <gtest/gtest.h>

#include <string>

#include "rehmc/core/error.hpp"

namespace rehmc::json_depth_test {
namespace {

TEST(JsonDepth, AllowsAHundred) {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  EXPECT_NO_THROW(require_json_depth(deep, "f"));
  EXPECT_NO_THROW(require_json_depth("{\"a\": " + deep.substr(1, 198) + "}" + deep, "f"));
  try {
    require_json_depth("[" + deep + "]", "data.json");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("data.json"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("byte 101"), std::string::npos);
  }
}

TEST(JsonDepth, CountsNoBracketsInStrings) {
  const std::string brackets(1000, '{');
  EXPECT_NO_THROW(require_json_depth("[\"" + brackets + "\"]", "f"));
  EXPECT_NO_THROW(require_json_depth(R"(["\\)" + std::string("\"") + "]", "f"));
  EXPECT_NO_THROW(require_json_depth("[\"\\\"" + brackets + "\"]", "f"));
  EXPECT_THROW(require_json_depth(R"(["a\\")" + brackets, "f"), DataError);
}

}  // namespace
}  // namespace rehmc::json_depth_test
