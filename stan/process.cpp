// Runs programs with posix_spawn: no shell, so arguments need no quoting.
#include "stan/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "rehmc/core/error.hpp"

extern char** environ;  // NOLINT: the system's name

namespace rehmc::stan {
namespace {

/// Both ends of a pipe, closed by the destructor.
struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw FileError(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    close(ends[0]);
    close_writing();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_writing() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

/// The group of the program that runs, or 0. Handlers read it.
std::atomic<pid_t> running = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free);

/// No signal is handled during its life, so that none comes between a start and its record.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

/// Starts a program in a group of its own, with what it prints going into the pipe.
void start(std::vector<std::string> words, const std::filesystem::path& folder, const Pipe& pipe,
           pid_t& process) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDERR_FILENO);
  if (!folder.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, std::filesystem::absolute(folder).c_str());
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  const WithoutSignals quiet;
  posix_spawnattr_setsigmask(&attributes, &quiet.before());
  const int failure =
      posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  if (failure == 0) running = process;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw NoInputError(fmt::format("cannot run {}: {}", words[0], std::strerror(failure)));
  }
}

}  // namespace

void end_program() noexcept {
  if (running > 0) ::kill(-running, SIGTERM);
}

ProgramResult run_program(const std::vector<std::string>& words,
                          const std::filesystem::path& folder) {
  Pipe pipe;
  pid_t process = 0;
  start(words, folder, pipe, process);
  pipe.close_writing();
  ProgramResult result;
  std::array<char, 4096> block{};
  for (;;) {
    const ssize_t count = read(pipe.ends[0], block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    result.output.append(block.data(), static_cast<std::size_t>(count));
  }
  running = 0;
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  while (!folders.empty()) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    const std::filesystem::path path = std::filesystem::path(folders.substr(0, colon)) / name;
    if (access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path)) return path;
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return "";
}

}  // namespace rehmc::stan
