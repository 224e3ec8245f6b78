// Files that survive crashes: nothing half-written is ever left under a final name.
#include "rehmc/output/durable_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/checkpoint.hpp"
#include "tests/output/folder.hpp"

namespace rehmc::durable_file_test {
namespace {

using testing::Folder;

TEST(WholeFile, IsReplacedAtomicallyAndLeavesNoOtherFile) {
  const Folder folder;
  const auto path = folder / "a.txt";
  write_whole(path, "first");
  EXPECT_EQ(read_file(path), "first");
  write_whole(path, std::string("second\0", 7));
  EXPECT_EQ(read_file(path), std::string("second\0", 7));
  EXPECT_EQ(folder.count(), 1U);
}

TEST(WholeFile, FailsWithTheNameOfTheFileAndTheCause) {
  const Folder folder;
  try {
    write_whole(folder / "missing" / "a.txt", "x");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("missing/a.txt"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos);
  }
}

TEST(GrowingFile, ReachesTheDiskWithSyncOnly) {
  const Folder folder;
  const auto path = folder / "rows.csv";
  GrowingFile file(path);
  file.waiting() += "head\n";
  EXPECT_EQ(read_file(path), "");
  file.sync();
  EXPECT_EQ(read_file(path), "head\n");
  EXPECT_EQ(file.size(), 5U);
  file.waiting() += "row\n";
  file.patch(0, "HE");
  file.sync();
  EXPECT_EQ(read_file(path), "HEad\nrow\n");
}

TEST(GrowingFile, ContinuesWhereItWasAndDiscardsTheRest) {
  const Folder folder;
  const auto path = folder / "rows.csv";
  FileSeal seal;
  {
    GrowingFile file(path);
    file.waiting() += "head\nrow\n";
    file.sync();
    seal = file.seal();
    file.waiting() += "half a r";
    file.sync();
  }
  {
    GrowingFile file(path, seal);
    EXPECT_EQ(read_file(path), "head\nrow\n");
    file.waiting() += "next\n";
    file.sync();
  }
  EXPECT_EQ(read_file(path), "head\nrow\nnext\n");
  FileSeal longer = seal;
  longer.bytes = 100;
  EXPECT_THROW(GrowingFile(path, longer), DataError);
  EXPECT_THROW(GrowingFile(folder / "none", FileSeal{}), FileError);
}

// In any block, and at its edges; the file stays as it is, for whoever wants to repair it.
TEST(GrowingFile, IsNotContinuedIfAByteWasChanged) {
  const Folder folder;
  const auto path = folder / "rows.csv";
  constexpr std::size_t size = 700'000;
  FileSeal seal;
  std::string content;
  {
    GrowingFile file(path);
    file.will_patch(10, 5);
    for (std::size_t i = 0; content.size() < size; ++i) {
      const std::string row = std::to_string(i * i) + ",";
      content += row;
      file.waiting() += row;
      if (i % 1000 == 0) file.sync();
    }
    file.patch(10, "PATCH");
    file.sync();
    seal = file.seal();
  }
  EXPECT_GT(seal.blocks.size(), 2U);
  EXPECT_EQ(seal.bytes, content.size());
  content.replace(10, 5, "PATCH");
  { GrowingFile file(path, seal); }
  EXPECT_EQ(read_file(path), content);
  for (const std::size_t place : {std::size_t{0}, std::size_t{9}, std::size_t{15}, size / 2,
                                  std::size_t{262'143}, std::size_t{262'144}, content.size() - 1}) {
    std::string changed = content;
    changed[place] = '!';
    write_whole(path, changed);
    try {
      GrowingFile file(path, seal);
      ADD_FAILURE() << place;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("rows.csv"), std::string::npos);
    }
    EXPECT_EQ(read_file(path), changed);
  }
}

// Pieces of any size give the same seal.
TEST(Sealer, SealsBytesHoweverTheyArrive) {
  std::string bytes;
  for (int i = 0; bytes.size() < 600'000; ++i) bytes += std::to_string(i);
  const auto sealed = [&](std::size_t piece) {
    Sealer sealer;
    sealer.leave_out(262'140, 10);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      sealer.add(std::string_view(bytes).substr(at, piece));
    }
    return sealer.seal();
  };
  const FileSeal whole = sealed(bytes.size());
  EXPECT_EQ(whole.blocks.size(), 3U);
  for (const std::size_t piece : {1U, 7U, 4096U, 262'144U, 262'145U}) {
    EXPECT_EQ(sealed(piece).blocks, whole.blocks) << piece;
  }
  const std::string before = bytes;
  bytes.replace(262'140, 10, "0123456789");
  EXPECT_EQ(sealed(5000).blocks, whole.blocks);  // the hole has no checksum
  bytes = before;
  bytes[262'150] ^= 1;
  EXPECT_NE(sealed(5000).blocks, whole.blocks);
}

TEST(GrowingFile, LosesItsClosingWhenItGrows) {
  const Folder folder;
  const auto path = folder / "rows.csv";
  GrowingFile file(path);
  file.waiting() += "row\n";
  file.sync_closing("# a long end\n");
  EXPECT_EQ(read_file(path), "row\n# a long end\n");
  file.waiting() += "2\n";
  file.sync();
  EXPECT_EQ(read_file(path), "row\n2\n");
  EXPECT_EQ(file.size(), 6U);
}

// /dev/full accepts no bytes: the file stays as it was at the last sync.
TEST(GrowingFile, ReportsThatTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) FAIL() << "no /dev/full";
  try {
    GrowingFile file("/dev/full");
    file.waiting() += "x";
    file.sync();
    FAIL();
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("/dev/full"), std::string::npos);
  }
}

TEST(Checkpoint, IsReadAgain) {
  const Folder folder;
  const auto path = folder / "checkpoint-1.bin";
  EXPECT_FALSE(read_checkpoint(path).found);
  const std::string content("bytes\0of a chain", 16);
  write_checkpoint(path, content);
  const StoredCheckpoint stored = read_checkpoint(path);
  EXPECT_TRUE(stored.found);
  EXPECT_EQ(stored.content, content);
  EXPECT_TRUE(stored.problems.empty());
}

// Every flipped bit and every missing byte is detected; then the previous file is used.
TEST(Checkpoint, FallsBackToThePreviousOneWhateverIsWrongWithTheLast) {
  const Folder folder;
  const auto path = folder / "checkpoint-1.bin";
  write_checkpoint(path, "the first");
  write_checkpoint(path, "the second");
  const std::string good = read_file(path);
  const auto expect_previous = [&](const char* what) {
    const StoredCheckpoint stored = read_checkpoint(path);
    ASSERT_TRUE(stored.found);
    EXPECT_EQ(stored.content, "the first");
    ASSERT_EQ(stored.problems.size(), 1U);
    EXPECT_NE(stored.problems[0].find(what), std::string::npos) << stored.problems[0];
    EXPECT_NE(stored.problems[0].find("checkpoint-1.bin"), std::string::npos);
  };
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    write_whole(path, bad);
    expect_previous("");
  }
  for (std::size_t size = 1; size < good.size(); ++size) {
    write_whole(path, good.substr(0, size));
    expect_previous("");
  }
  write_whole(path, "");
  expect_previous("is empty");
  write_whole(path, good + "x");
  expect_previous("truncated");
  std::filesystem::remove(path);
  expect_previous("is missing");
  write_whole(path, good);
  EXPECT_EQ(read_checkpoint(path).content, "the second");
}

TEST(Checkpoint, IsNotFoundIfBothAreDamaged) {
  const Folder folder;
  const auto path = folder / "checkpoint-1.bin";
  write_checkpoint(path, "the first");
  write_checkpoint(path, "the second");
  write_whole(path, "x");
  write_whole(previous_checkpoint(path), "y");
  const StoredCheckpoint stored = read_checkpoint(path);
  EXPECT_FALSE(stored.found);
  EXPECT_EQ(stored.problems.size(), 2U);
}

}  // namespace
}  // namespace rehmc::durable_file_test
