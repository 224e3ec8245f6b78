// Files that survive crashes: nothing half-written is ever left under a final name.
#include "rehmc/output/durable_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/checkpoint.hpp"
#include "tests/output/folder.hpp"

namespace rehmc {
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
  write_whole(path, "head\nrow\nhalf a r");
  {
    GrowingFile file(path, 9);
    EXPECT_EQ(read_file(path), "head\nrow\n");
    file.waiting() += "next\n";
    file.sync();
  }
  EXPECT_EQ(read_file(path), "head\nrow\nnext\n");
  EXPECT_THROW(GrowingFile(path, 100), FileError);
  EXPECT_THROW(GrowingFile(folder / "none", 0), FileError);
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
    EXPECT_NE(std::string(error.what()).find("resume"), std::string::npos);
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
}  // namespace rehmc
