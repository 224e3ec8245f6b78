// rehmc paper: starts the program rehmc-paper, which reproduces the paper's experiments.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "command.hpp"
#include "rehmc/core/error.hpp"
#include "stan/process.hpp"

namespace rehmc::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "rehmc-paper";

/// Next to this program, else on the PATH; empty if in neither place.
std::string find_paper_program() {
  const fs::path next_to_us = fs::read_symlink("/proc/self/exe").replace_filename(program_name);
  return fs::exists(next_to_us) ? next_to_us.string() : stan::find_program(program_name);
}

/// Returns only if that fails.
int start(const std::vector<std::string>& options) {
  const std::string program = find_paper_program();
  if (program.empty()) {
    throw NoInputError(fmt::format(
        "the program {} is neither next to rehmc nor on the PATH; build it from rehmc's source "
        "with `make paper` or `cmake --build build/release --target rehmc_paper`",
        program_name));
  }
  std::vector<std::string> words{program};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw NoInputError(fmt::format("{} cannot be started: {}", program, std::strerror(errno)));
}

}  // namespace

void add_paper(Command app, Action& chosen) {
  Command command =
      app.subcommand("paper", "Reproduce the paper's experiments: tables, figures, a page");
  command.take_words();
  command.when_chosen(
      [command, &chosen] { chosen = [words = command.words()] { return start(words); }; });
}

}  // namespace rehmc::cli
