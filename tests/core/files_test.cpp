// Files are read completely or give an error that names them; hashes equal the published ones.
#include "rehmc/core/files.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <string>

#include "rehmc/core/error.hpp"
#include "rehmc/core/hash.hpp"
#include "tests/model/messages.hpp"

namespace rehmc::files_test {
namespace {

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("rehmc-files-") + test->name() + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }

  std::filesystem::path folder_;
};

TEST_F(Files, ComeBackByteByByte) {
  // Around the size of a block, with bytes that text mode or C strings would corrupt.
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 200000}) {
    std::string bytes(size, 'x');
    for (std::size_t i = 0; i < size; i += 7) bytes[i] = static_cast<char>(i);
    std::ofstream(path("file"), std::ios::binary) << bytes;
    EXPECT_EQ(read_file(path("file")), bytes) << size;
  }
}

TEST_F(Files, ThatCannotBeReadAreNamed) {
  using testing::expect_says;
  using testing::message_of;
  expect_says(message_of<NoInputError>([&] { read_file(path("none.json")); }),
              {"none.json", "No such file"});
  expect_says(message_of<NoInputError>([&] { read_file(folder_); }),
              {folder_.string(), "directory"});
  EXPECT_EQ(NoInputError("").code(), ExitCode::no_input);
}

TEST(ContentHash, IsXxh3With128Bits) {
  // As `xxhsum -H2` prints them.
  EXPECT_EQ(content_hash(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(content_hash("a"), content_hash("b"));
  EXPECT_NE(content_hash(std::string(1000, 'a')), content_hash(std::string(1001, 'a')));
}

}  // namespace
}  // namespace rehmc::files_test
