// The command rehmc: reads the command line, runs one command, and prints errors in one line.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "interrupt.hpp"
#include "print.hpp"
#include "print_error.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc {
namespace {

void add_commands(cli::Command app, cli::Action& chosen) {
  app.require_subcommand();
  cli::add_sample(app, chosen);
  cli::add_summary(app, chosen);
  cli::add_sharpen(app, chosen);
  cli::add_report(app, chosen);
  cli::add_resume(app, chosen);
  cli::add_extend(app, chosen);
  cli::add_check(app, chosen);
  cli::add_generate(app, chosen);
  cli::add_export(app, chosen);
  cli::add_models(app, chosen);
  cli::add_check_gradient(app, chosen);
  cli::add_compile(app, chosen);
  cli::add_cmdstan_exe(app, chosen);
  cli::add_stan(app, chosen);
  cli::add_paper(app, chosen);
}

/// What is wrong with the command line, in two lines.
int print_usage_error(const cli::UsageError& error, const std::string& command) {
  const bool of_commands = command == "rehmc" || command == "rehmc help";
  cli::tell("rehmc: {}\nFor all {}: {} --help\n", error.what(),
            of_commands ? "commands" : "options", of_commands ? "rehmc" : command);
  return static_cast<int>(ExitCode::usage);
}

int run_command(int count, char** words) {
  cli::CommandLine line("rehmc", "Hamiltonian Monte Carlo that throws no gradient away",
                        REHMC_VERSION);
  cli::Action chosen;
  add_commands(line.root(), chosen);
  cli::add_help(line, chosen);
  cli::add_completion(line, chosen);
  try {
    if (const auto done = line.parse(count, words)) return *done;
    return chosen();
  } catch (const cli::UsageError& error) {
    return print_usage_error(error, line.command_words());
  } catch (const std::exception& error) {
    return cli::print_error(error, line.option_names());
  }
}

/// Ends the command where memory runs out, instead of throwing: nlohmann-json, for one, crashes if
/// a constructor or destructor of it cannot allocate. Everything on the disk is valid at any time.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view text =
      "rehmc: out of memory; nothing that was stored is lost, and rehmc resume continues a run\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  _exit(static_cast<int>(ExitCode::system));
}

/// Reserves addresses for the heap, and asks for large pages there: the first touch of every page
/// costs a fault, and with pages of 4 kB these took up to a third of the time of a short run.
void prepare_heap() {
  constexpr int reserved = 256 << 20;  // no memory is taken before it is used
  constexpr int usual = 128 << 10;
  constexpr std::uintptr_t large_page = 2 << 20;
  // Summaries allocate and free large arrays; getting these from the system each time would take a
  // fifth of the run time.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  mallopt(M_TOP_PAD, reserved);
  char* const begin = static_cast<char*>(sbrk(0));
  void* volatile grown = std::malloc(1 << 20);  // more than the heap has left at the start
  std::free(grown);
  mallopt(M_TOP_PAD, usual);
  char* const end = static_cast<char*>(sbrk(0));
  // If the heap could not grow, or the system has no large pages, everything stays as it was.
  const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(begin) % large_page;
  char* const first = begin + (beyond == 0 ? 0 : large_page - beyond);
  if (end > first) madvise(first, static_cast<std::size_t>(end - first), MADV_HUGEPAGE);
}

int run(int count, char** words) {
  cli::end_at_interrupts();
  std::set_new_handler(end_without_memory);
  // Exceeding the user's file size limit is a write error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  prepare_heap();
  try {
    return run_command(count, words);
  } catch (const std::exception& error) {
    return cli::print_error(error, {});
  }
}

}  // namespace
}  // namespace rehmc

int main(int count, char** words) { return rehmc::cli::finish_printing(rehmc::run(count, words)); }
