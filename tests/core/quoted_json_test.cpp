// Bare NaN and infinities in JSON: what is quoted, what is not, and where it was.
#include "rehmc/core/quoted_json.hpp"

#include <gtest/gtest.h>

namespace rehmc::quoted_json_test {
namespace {

TEST(QuotedJson, QuotesBareNumbersOnly) {
  EXPECT_EQ(QuotedJson("[NaN, nan, -NaN, Inf, -Inf, +Inf]").text(),
            R"(["NaN", "NaN", "-NaN", "Inf", "-Inf", "+Inf"])");
  EXPECT_EQ(QuotedJson("[Infinity,-Infinity,+Infinity]").text(),
            R"(["Infinity","-Infinity","+Infinity"])");
  for (const char* same : {R"({"NaN": "Inf", "a\"NaN": [-1, null, true]})", "", "[1e-5]"}) {
    EXPECT_EQ(QuotedJson(same).text(), same);
  }
}

TEST(QuotedJson, KnowsWhereAByteWasBefore) {
  const QuotedJson quoted("[NaN, 1, -Inf, x]");
  const std::string& text = quoted.text();
  EXPECT_EQ(quoted.original(0), 0U);
  EXPECT_EQ(quoted.original(text.find('1')), 6U);
  EXPECT_EQ(quoted.original(text.find('x')), 15U);
}

}  // namespace
}  // namespace rehmc::quoted_json_test
