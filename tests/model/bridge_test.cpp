// Densities in shared libraries: their results, and the errors for libraries that are not models.
#include "rehmc/model/bridge.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/model/messages.hpp"

namespace rehmc::bridge_test {
namespace {

const std::filesystem::path folder = REHMC_TEST_BRIDGES;

/// The error message of constructing this model.
std::string refusal(const std::filesystem::path& library, const std::string& data = "") {
  try {
    const BridgeDensity density(library, data);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Bridge, GivesDensityNamesAndQuantities) {
  BridgeDensity density(folder / "bridge_good.so", "");
  EXPECT_EQ(density.model_name(), "Good");
  EXPECT_EQ(density.dimension(), 2U);
  EXPECT_EQ(density.names(), (std::vector<std::string>{"scale", "place"}));
  EXPECT_FALSE(density.takes_turns());
  const std::vector<double> x{1, 2};
  std::vector<double> gradient(2);
  EXPECT_EQ(density(x, gradient), -2.5);
  EXPECT_EQ(gradient, (std::vector<double>{-1, -2}));
  EXPECT_EQ(density.log_density(x), -2.5);

  const std::vector<Quantity> quantities = density.quantities();
  ASSERT_EQ(quantities.size(), 3U);
  EXPECT_EQ(quantities[2].name, "noise");
  EXPECT_TRUE(quantities[2].generated);
  EXPECT_FALSE(quantities[1].generated);
}

TEST(Bridge, KnowsWhichQuantitiesDependOnOneCoordinateAlone) {
  const std::vector<Quantity> quantities =
      BridgeDensity(folder / "bridge_good.so", "").quantities();
  EXPECT_EQ(quantities[0].coordinate, 0U);
  EXPECT_FALSE(quantities[1].coordinate.has_value());  // the scale moves it too
  EXPECT_FALSE(quantities[2].coordinate.has_value());
}

// The bits matter: they must not depend on whether a model or this computes a value.
TEST(Bridge, KnowsCoordinatesThatAnotherOneScales) {
  BridgeDensity density(folder / "bridge_good.so", "");
  const std::vector<Quantity> quantities = density.quantities();
  EXPECT_FALSE(quantities[0].scaled.has_value());
  EXPECT_FALSE(quantities[2].scaled.has_value());
  ASSERT_TRUE(quantities[1].scaled.has_value());
  EXPECT_EQ(quantities[1].scaled->coordinate, 1U);
  EXPECT_FALSE(quantities[1].scaled->offset.has_value());
  EXPECT_EQ(quantities[1].scaled->multiplier, (MappedCoordinate{0, CoordinateMap::exponential}));
  const std::vector<double> x{0.3, -1.7};
  std::vector<double> values(3);
  density.evaluate_quantities(x, values, nullptr);
  EXPECT_TRUE(quantities[1].follows_from_coordinates());
  EXPECT_EQ(quantities[1].value_at(x), values[1]);
}

TEST(Bridge, GeneratesFromTheStreamAlone) {
  BridgeDensity density(folder / "bridge_good.so", "");
  const std::vector<double> x{0, 2};
  std::vector<double> first(3);
  std::vector<double> again(3);
  std::vector<double> other(3);
  Stream stream(Address{1, 2, 3}, Purpose::generated);
  Stream same(Address{1, 2, 3}, Purpose::generated);
  Stream next(Address{1, 2, 4}, Purpose::generated);
  density.evaluate_quantities(x, first, &stream);
  density.evaluate_quantities(x, again, &same);
  density.evaluate_quantities(x, other, &next);
  EXPECT_EQ(first, again);
  EXPECT_EQ(first[1], 2);
  EXPECT_NE(first[2], other[2]);
  density.evaluate_quantities(x, first, nullptr);
  EXPECT_EQ(first[1], 2);
  EXPECT_TRUE(std::isnan(first[2]));
}

TEST(Bridge, LosesOnlyGeneratedQuantitiesWhereTheyReject) {
  BridgeDensity density(folder / "bridge_good.so", "");
  const std::vector<double> x{0, -2};
  std::vector<double> values(3);
  Stream stream(Address{}, Purpose::generated);
  EXPECT_THROW(density.evaluate_quantities(x, values, &stream), std::domain_error);
  EXPECT_EQ(values[1], -2);
  EXPECT_TRUE(std::isnan(values[2]));
  ASSERT_EQ(density.messages().kinds().size(), 1U);
  EXPECT_EQ(density.messages().kinds()[0].first, "no noise here");
}

TEST(Bridge, RejectsWithTheModelsMessage) {
  BridgeDensity density(folder / "bridge_good.so", "");
  const std::vector<double> x{10, 0};
  std::vector<double> gradient(2);
  try {
    density(x, gradient);
    FAIL();
  } catch (const std::domain_error& error) {
    EXPECT_STREQ(error.what(), "the scale is above 100");
  }
  EXPECT_EQ(density.messages().kinds()[0].count, 1U);
}

TEST(Bridge, TakesParametersOnTheirOwnScales) {
  const BridgeDensity density(folder / "bridge_good.so", "");
  EXPECT_EQ(density.unconstrain("{}"), (std::vector<double>{0.5, 0.25}));
  EXPECT_THROW(density.unconstrain(""), DataError);
}

TEST(Bridge, CallsTakeTurnsWhereTheLibraryIsNotSafe) {
  const BridgeDensity density(folder / "bridge_turns.so", "");
  EXPECT_TRUE(density.takes_turns());
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back(
        [&failures, mine = BridgeDensity(folder / "bridge_turns.so", "")]() mutable {
          const std::vector<double> x{1};
          std::vector<double> gradient(1);
          for (int i = 0; i < 50; ++i) {
            try {
              mine(x, gradient);
            } catch (const std::domain_error&) {
              ++failures;
            }
          }
        });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

// Chains move on the unconstrained scale, so the Jacobian belongs to their density; constants do
// not matter, and dropping them saves time.
TEST(Bridge, IncludesTheJacobianAndDropsConstants) {
  BridgeDensity density(folder / "bridge_turns.so", "");
  const std::vector<double> x{3};
  std::vector<double> gradient(1);
  EXPECT_EQ(density(x, gradient), -4.5 + 3);
  EXPECT_EQ(gradient[0], -3 + 1);
  EXPECT_EQ(density.log_density(x), -4.5 + 3);
}

TEST(Bridge, ReportsWhatIsWrongWithALibrary) {
  expect_parts(refusal(folder / "no-such.so"), {"no-such.so: there is no such file"});
  expect_parts(refusal(folder / "bridge_stranger.so"),
               {"bridge_stranger.so: is a shared library, but not a model:", "bs_model_construct"});
  expect_parts(refusal(folder / "bridge_good.so", "{\"bad\": 1}"), {"bad is not a variable"});
  const std::filesystem::path text = std::filesystem::temp_directory_path() / "rehmc-text.so";
  std::ofstream(text) << "#!/bin/sh\n# This is a script, and long enough to hold a header of 52.\n";
  expect_parts(refusal(text), {"is not a shared library"});
  std::ofstream(text) << "";
  expect_parts(refusal(text), {"is not a shared library"});
  // The same library, marked as built for another machine in bytes 18 and 19.
  std::string bytes = read_file(folder / "bridge_stranger.so");
  bytes[18] = static_cast<char>(0xF3);
  bytes[19] = 0;
  std::ofstream(text, std::ios::binary) << bytes;
  expect_parts(refusal(text), {"was built for RISC-V machines"});
  // Half of it, like an interrupted copy.
  bytes = read_file(folder / "bridge_stranger.so");
  std::ofstream(text, std::ios::binary) << bytes.substr(0, bytes.size() / 8);
  expect_parts(refusal(text), {"is truncated"});
  std::filesystem::remove(text);
}

/// Calls the density, or the gradient, 100 times.
void call_density(const BridgeDensity& density) {
  for (int i = 0; i < 100; ++i) density.log_density(std::vector<double>{0});
}
void call_gradient(BridgeDensity& density) {
  std::vector<double> gradient(1);
  for (int i = 0; i < 100; ++i) density(std::vector<double>{0}, gradient);
}

/// Exactly this line was printed, this many times.
void expect_line(const ModelMessages& messages, const std::string& line, std::uint64_t count) {
  ASSERT_EQ(messages.kinds().size(), 1U) << line;
  EXPECT_EQ(messages.kinds()[0].first, line);
  EXPECT_EQ(messages.kinds()[0].count, count);
}

// Three models of one library print in three threads at once, each line in two pieces.
TEST(Bridge, EveryModelHasItsOwnMessages) {
  const auto shared = std::make_shared<ModelMessages>();
  const BridgeDensity first(folder / "bridge_turns.so", "first", 0, shared);
  const BridgeDensity second(folder / "bridge_turns.so", "second");
  const BridgeDensity sharing(folder / "bridge_turns.so", "first", 0, shared);
  const BridgeDensity silent(folder / "bridge_turns.so", "third");
  {
    const std::jthread one([&] { call_density(first); });
    const std::jthread two([&] { call_density(second); });
    const std::jthread three([&] { call_density(sharing); });
  }
  EXPECT_TRUE(silent.messages().kinds().empty());
  expect_line(first.messages(), "first speaks", 200);
  expect_line(second.messages(), "second speaks", 100);
}

// What a library prints in a thread that it starts itself goes to the models of that library.
TEST(Bridge, HearsThreadsOfTheLibrary) {
  const auto shared = std::make_shared<ModelMessages>();
  BridgeDensity density(folder / "bridge_turns.so", "alone", 0, shared);
  const BridgeDensity copy(density);
  const BridgeDensity sharing(folder / "bridge_turns.so", "it", 0, shared);
  const BridgeDensity other(folder / "bridge_good.so", "");
  { const BridgeDensity gone(folder / "bridge_turns.so", "gone"); }
  call_gradient(density);
  expect_line(density.messages(), "alone speaks", 100);
  EXPECT_TRUE(other.messages().kinds().empty());

  BridgeDensity second(folder / "bridge_turns.so", "second");
  {
    const std::jthread one([&] { call_gradient(density); });
    const std::jthread two([&] { call_gradient(second); });
  }
  ASSERT_EQ(second.messages().kinds().size(), 2U);  // any of the two may have caused a line
  for (const ModelMessages::Kind& kind : second.messages().kinds()) EXPECT_EQ(kind.count, 100U);
}

TEST(Messages, HalfALineOfALibrarysThreadIsAddedWhenAModelGoes) {
  LibraryMessages library;
  ModelMessages messages;
  library.enter(messages);
  library.print("half");
  EXPECT_TRUE(messages.kinds().empty());
  library.leave(messages);
  library.print("to nobody\n");
  expect_line(messages, "half", 1);
}

TEST(Messages, PrintedTextGoesToTheReceiverOfTheThread) {
  ModelMessages outer;
  ModelMessages inner;
  MessageReceiver::print("lost\n");
  {
    const MessageReceiver receiver(outer);
    MessageReceiver::print("one line\nand ");
    {
      const MessageReceiver within(inner);
      MessageReceiver::print("of another model");
    }
    MessageReceiver::print("half of one");
    std::thread([] { MessageReceiver::print("of another thread\n"); }).join();
  }
  MessageReceiver::print("lost\n");
  ASSERT_EQ(outer.kinds().size(), 2U);
  EXPECT_EQ(outer.kinds()[0].first, "one line");
  EXPECT_EQ(outer.kinds()[1].first, "and half of one");
  ASSERT_EQ(inner.kinds().size(), 1U);
  EXPECT_EQ(inner.kinds()[0].first, "of another model");
}

TEST(Messages, AreCountedByKind) {
  ModelMessages messages;
  std::vector<std::string> heard;
  messages.listen([&](const std::string& line) { heard.push_back(line); });
  messages.add("scale is -1.5e+10 at 3");
  messages.add("scale is 2 at 17");
  messages.add("something else");
  ASSERT_EQ(messages.kinds().size(), 2U);
  EXPECT_EQ(messages.kinds()[0].first, "scale is -1.5e+10 at 3");
  EXPECT_EQ(messages.kinds()[0].count, 2U);
  EXPECT_EQ(heard.size(), 3U);
  messages.mute(true);
  messages.add("said to nobody");
  messages.mute(false);
  EXPECT_EQ(heard.size(), 3U);
  for (int i = 0; i < 300; ++i)
    messages.add("kind " + std::string(static_cast<std::size_t>(i), 'x'));
  EXPECT_EQ(messages.kinds().size(), ModelMessages::most_kinds);
  EXPECT_EQ(messages.others(), 300U + 2 - ModelMessages::most_kinds);
}

}  // namespace
}  // namespace rehmc::bridge_test
