// Locks between processes: held by one, and free when it ends.
#include "rehmc/core/file_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>

#include "rehmc/core/error.hpp"

namespace rehmc::file_lock_test {
namespace {

TEST(FileLock, IsHeldOnceAndFreeAfterwards) {
  const auto path = std::filesystem::temp_directory_path() / ("lock-" + std::to_string(getpid()));
  {
    const std::optional<FileLock> first = FileLock::attempt(path);
    ASSERT_TRUE(first);
    EXPECT_FALSE(FileLock::attempt(path));
  }
  EXPECT_TRUE(FileLock::attempt(path));
  EXPECT_THROW(FileLock::attempt(path / "below"), CreateError);
  std::filesystem::remove(path);
}

TEST(FileLock, DiesWithItsProcess) {
  const auto path = std::filesystem::temp_directory_path() / ("lock-" + std::to_string(getpid()));
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::optional<FileLock> held = FileLock::attempt(path);
    const char sign = held ? '1' : '0';
    if (write(ready[1], &sign, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char sign = 0;
  ASSERT_EQ(read(ready[0], &sign, 1), 1);
  ASSERT_EQ(sign, '1');
  EXPECT_FALSE(FileLock::attempt(path));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::attempt(path));
  close(ready[0]);
  close(ready[1]);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace rehmc::file_lock_test
