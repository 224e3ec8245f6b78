// States files: what they hold is what the record in memory holds, interrupted or not.
#include "rehmc/output/states_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/memory_sinks.hpp"
#include "tests/kernel/mechanics.hpp"
#include "tests/output/folder.hpp"
#include "tests/output/records.hpp"

namespace rehmc::states_file_test {
namespace {

using testing::address;

constexpr std::size_t coordinates = 3;
constexpr std::size_t warmup_draws = 5;
constexpr std::size_t draws = 60;
constexpr std::size_t bare_draw = 20;  // keeps no states

/// A wall to diverge at, and quantities that are not coordinates.
struct Walled : testing::Walled {
  Walled() : testing::Walled(3, 1.2, Fault::exception) {}
};
struct WalledSquare : Walled {
  std::vector<Quantity> quantities() const { return {{"square"}}; }
  void evaluate_quantities(std::span<const double> x, std::span<double> values, Stream*) const {
    values[0] = x[0] * x[0];
  }
};

/// What a chain of this model stores in memory and in a file, which is closed and opened again
/// before draw `reopened`.
ChainResult write_chain(const Density& density, const std::filesystem::path& path,
                        KeptGradients gradients, std::size_t reopened, StatesMark& mark) {
  const auto kernel = testing::kernel_at_start(
      density, testing::kernel_settings(KernelKind::nuts, parse_recycling("spread:4")));
  const Tuning tuning = testing::diagonal_tuning(coordinates, 0.3);
  const std::vector<double> centre{0.1, 0.2, 0.3};
  const MomentFeatures moments(centre);
  QuantityReader reader(density, {});
  ChainResult result;
  result.record = result.warmup = ChainRecord(reader, 0);
  RecordSink record(result, draws, gradients);
  std::optional<StatesSink> states(std::in_place, path, gradients);
  const auto add = [&](const ReadDraw& draw, std::size_t index) {
    record.add(draw, index);
    states->add(draw, index);
  };
  for (std::size_t i = 0; i < warmup_draws; ++i) {
    add(reader.read_warmup(kernel->transition(tuning, address(i)), address(i)), i);
  }
  kernel->use_features(&moments);
  reader.set_centre(centre);
  const SamplingStart start{tuning, centre, reader, {}};
  record.begin(start);
  states->begin(start);
  for (std::size_t i = 0; i < draws; ++i) {
    if (i == reopened) {
      states->sync();
      const StatesMark so_far = states->mark();
      states.emplace(path, gradients, so_far);
    }
    const Address at = address(warmup_draws + i);
    Transition transition = kernel->transition(tuning, at);
    if (i == bare_draw) transition.recycled = {};
    add(reader.read(transition, at), i);
  }
  states->sync();
  mark = states->mark();
  return result;
}

/// As expect_same_draws(), with all that was recycled.
void expect_same(const ChainRecord& found, const ChainRecord& expected) {
  testing::expect_same_draws(found, expected);
  EXPECT_EQ(found.mean_offset, expected.mean_offset);
  EXPECT_EQ(found.mean_square, expected.mean_square);
  EXPECT_EQ(found.kept, expected.kept);
  EXPECT_EQ(found.kept_weight, expected.kept_weight);
  EXPECT_EQ(found.kept_end, expected.kept_end);
  EXPECT_EQ(found.kept_position, expected.kept_position);
  EXPECT_EQ(found.kept_gradient, expected.kept_gradient);
  ASSERT_EQ(found.divergences.size(), expected.divergences.size());
  for (std::size_t i = 0; i < found.divergences.size(); ++i) {
    EXPECT_EQ(found.divergences[i].draw, expected.divergences[i].draw);
    EXPECT_EQ(found.divergences[i].start, expected.divergences[i].start);
    EXPECT_EQ(found.divergences[i].momentum, expected.divergences[i].momentum);
    EXPECT_EQ(found.divergences[i].end, expected.divergences[i].end);
    EXPECT_EQ(found.divergences[i].fault, expected.divergences[i].fault);
  }
}

ChainResult empty_result(const ChainResult& like, const StatesMark& mark) {
  ChainResult result;
  for (ChainRecord* record : {&result.record, &result.warmup}) {
    record->columns = like.record.columns;
    record->coordinates = coordinates;
    record->gradients = KeptGradients::yes;
    record->centre = mark.centre;
  }
  return result;
}

TEST(StatesFile, HoldsWhatTheRecordHolds) {
  const testing::Folder folder;
  for (const Density& density : {Density(Walled{}), Density(WalledSquare{})}) {
    for (const KeptGradients gradients : {KeptGradients::no, KeptGradients::yes}) {
      SCOPED_TRACE(gradients == KeptGradients::yes);
      StatesMark mark;
      const ChainResult expected =
          write_chain(density, folder / "straight", gradients, draws, mark);
      EXPECT_FALSE(expected.record.divergences.empty());
      EXPECT_EQ(mark.warmup_draws, warmup_draws);
      EXPECT_EQ(mark.draws, draws);
      ChainResult found = empty_result(expected, mark);
      read_states(folder / "straight", mark, found);
      expect_same(found.record, expected.record);
      expect_same(found.warmup, expected.warmup);

      StatesMark again;
      write_chain(density, folder / "reopened", gradients, bare_draw, again);
      EXPECT_EQ(again.seal.bytes, mark.seal.bytes);
      EXPECT_EQ(read_file(folder / "reopened"), read_file(folder / "straight"));
    }
  }
}

TEST(StatesFile, MustHoldWhatTheMarkSays) {
  const testing::Folder folder;
  const std::filesystem::path path = folder / "states";
  StatesMark mark;
  const ChainResult expected =
      write_chain(Density(Walled{}), path, KeptGradients::yes, draws, mark);
  StatesMark fewer = mark;
  --fewer.draws;
  ChainResult result = empty_result(expected, mark);
  EXPECT_THROW(read_states(path, fewer, result), DataError);
  StatesMark more = mark;
  ++more.draws;
  result = empty_result(expected, mark);
  EXPECT_THROW(read_states(path, more, result), DataError);
  std::filesystem::resize_file(path, mark.seal.bytes - 1);
  result = empty_result(expected, mark);
  EXPECT_THROW(read_states(path, mark, result), DataError);
}

// Numbers that are as good as any are only revealed by their checksum.
TEST(StatesFile, IsNotReadIfADrawWasChanged) {
  const testing::Folder folder;
  const std::filesystem::path path = folder / "states";
  StatesMark mark;
  const ChainResult expected =
      write_chain(Density(Walled{}), path, KeptGradients::yes, draws, mark);
  std::string content = read_file(path);
  content[content.size() / 2] ^= 1;
  write_whole(path, content);
  ChainResult result = empty_result(expected, mark);
  EXPECT_THROW(read_states(path, mark, result), DataError);
}

}  // namespace
}  // namespace rehmc::states_file_test
