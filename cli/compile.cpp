// rehmc compile: compiles a Stan program into a shared library, for rehmc and for other samplers.
#include "stan/compile.hpp"
#include "print.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "command.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc::cli {
namespace {

struct CompileChoice {
  std::string program;
  std::string output;
  std::vector<std::string> include_paths;
  stan::CompileOptions options;
  std::string cmdstan;
};

/// Written under a name of this process first, because several may write the same library.
void copy_library(const std::filesystem::path& made, const std::filesystem::path& output) {
  require_replaceable(output);
  const std::filesystem::path own = fmt::format("{}.{}", output.string(), getpid());
  write_whole(own, read_file(made));
  std::filesystem::permissions(own, std::filesystem::perms::owner_exec,
                               std::filesystem::perm_options::add);
  std::error_code error;
  std::filesystem::rename(own, output, error);
  if (!error) return;
  std::filesystem::remove(own);
  throw CreateError(fmt::format("{}: cannot be written: {}", output.string(), error.message()));
}

int run(const CompileChoice& choice) {
  const std::filesystem::path file = choice.program;
  if (file.extension() != ".stan") {
    throw ConfigError(fmt::format("{}: expected a Stan program, FILE.stan", choice.program));
  }
  stan::CompileOptions options = choice.options;
  options.cmdstan = choice.cmdstan;
  const stan::Program program = stan::read_program(file, choice.include_paths);
  const std::filesystem::path made =
      stan::compile(program, options, [](const std::string& text) { tell("rehmc: {}\n", text); });
  std::filesystem::path output = choice.output;
  if (output.empty()) output = std::filesystem::path(file).replace_extension(".so");
  copy_library(made, output);
  print("{}\n", output.string());
  return 0;
}

}  // namespace

void add_compile(Command app, Action& chosen) {
  Command command = app.subcommand(
      "compile", "Compile a Stan program into a shared library with BridgeStan's functions");
  const auto choice = std::make_shared<CompileChoice>();
  command.option("PROGRAM", choice->program, "FILE.stan").required();
  command.option("--output,-o", choice->output, "the library (default: FILE.so)").type_name("FILE");
  command.flag("--native", choice->options.native,
               "optimise for this machine only: slower to compile, faster to run");
  command
      .option("--include-path", choice->include_paths,
              "folder to search for files that the program includes")
      .type_name("DIR")
      .repeatable();
  command.option("--cmdstan", choice->cmdstan, "compile with the Stan of this CmdStan folder")
      .type_name("DIR");
  command.when_chosen([&chosen, choice] { chosen = [choice] { return run(*choice); }; });
}

}  // namespace rehmc::cli
