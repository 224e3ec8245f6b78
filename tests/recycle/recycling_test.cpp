// Reading, writing and checking the choice of recycling.
#include "rehmc/recycle/recycling.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

#include "rehmc/core/error.hpp"

namespace rehmc::recycling_test {
namespace {

void expect_choice(std::string_view text, RecyclingKind kind, std::size_t count,
                   std::string_view described) {
  const Recycling recycling = parse_recycling(text);
  EXPECT_EQ(recycling.kind, kind) << text;
  EXPECT_EQ(describe(recycling), described) << text;
  if (count > 0) {
    EXPECT_EQ(recycling.count, count) << text;
  }
  const Recycling again = parse_recycling(describe(recycling));
  EXPECT_EQ(again.kind, recycling.kind);
  EXPECT_EQ(describe(again), described);
}

TEST(Recycling, ReadsAndWritesEveryChoice) {
  expect_choice("none", RecyclingKind::none, 0, "none");
  expect_choice("all", RecyclingKind::all, 0, "all");
  expect_choice("8", RecyclingKind::spread, 8, "spread:8");
  expect_choice("1", RecyclingKind::spread, 1, "spread:1");
  expect_choice("spread:12", RecyclingKind::spread, 12, "spread:12");
  expect_choice("simple:3", RecyclingKind::simple, 3, "simple:3");
  expect_choice("accept-each", RecyclingKind::accept_each, 0, "accept-each");
  expect_choice("stride:1000000", RecyclingKind::stride, 1000000, "stride:1000000");
}

TEST(Recycling, KeepsEightSpreadStatesUnlessTold) {
  EXPECT_EQ(describe(Recycling{}), "spread:8");
  EXPECT_NO_THROW(Recycling{}.check());
}

/// Bad input gives a ConfigError with the value found and, in `telling`, the reason.
void expect_refused(std::string_view text, std::string_view telling) {
  try {
    parse_recycling(text);
    FAIL() << "'" << text << "' was taken";
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("recycle"), std::string::npos) << message;
    EXPECT_NE(message.find(telling), std::string::npos) << message;
  }
}

TEST(Recycling, RefusesWhatItDoesNotKnow) {
  for (const std::string_view text : {"", ":", "evry", "Spread:8", " all", "all ", "-3", "8.5",
                                      "0x10", "spread 8", "accept_each", "nan"}) {
    expect_refused(text, "found '" + std::string(text) + "'");
    expect_refused(text,
                   "use none, all, K, spread:K, simple:K, recursive:K, accept-each or "
                   "stride:K");
  }
}

TEST(Recycling, RefusesAMissingOrSuperfluousOrMalformedCount) {
  expect_refused("spread", "K is missing");
  expect_refused("simple", "K is missing");
  expect_refused("stride", "K is missing");
  expect_refused("all:3", "no K is used here");
  expect_refused("none:", "no K is used here");
  expect_refused("accept-each:2", "no K is used here");
  for (const std::string_view text : {"spread:", "spread:x", "simple:3x", "stride:-1", "spread:1e3",
                                      "spread:+4", "spread: 4", "spread:4:5"}) {
    expect_refused(text, "whole number");
  }
  expect_refused("spread:99999999999999999999", "whole number");  // does not fit 64 bits
  expect_refused("99999999999999999999", "whole number");
}

TEST(Recycling, RefusesAbsurdCounts) {
  for (const std::string_view text : {"0", "spread:0", "stride:0", "spread:1000001"}) {
    expect_refused(text, "K");
    expect_refused(text, "must be in [1, 1000000]");
  }
  for (const std::string_view text : {"simple:0", "simple:10001"}) {
    expect_refused(text, "must be in [1, 10000]");
  }
  EXPECT_THROW((Recycling{RecyclingKind::simple, 0}.check()), ConfigError);
  EXPECT_THROW((Recycling{RecyclingKind::stride, std::numeric_limits<std::size_t>::max()}.check()),
               ConfigError);
  EXPECT_NO_THROW((Recycling{RecyclingKind::all, 0}.check()));  // uses no count
  EXPECT_THROW((Recycling{static_cast<RecyclingKind>(17), 8}.check()), ConfigError);
}

}  // namespace
}  // namespace rehmc::recycling_test
