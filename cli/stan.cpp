// rehmc stan install and rehmc stan status: the toolchains of Stan programs.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "stan/cache.hpp"
#include "stan/compile.hpp"
#include "stan/interpret.hpp"
#include "stan/process.hpp"
#include "stan/toolchain.hpp"

namespace rehmc::cli {
namespace {

struct InstallOptions {
  bool interpreter = false;
  bool compiler = false;
  bool header = false;
  std::string from;
};

std::vector<stan::Part> parts_to_install(const InstallOptions& options) {
  if (!options.from.empty()) return {stan::part_of(options.from)};
  const bool compiler = options.compiler || options.header;  // the header needs the compiler
  const bool both = options.interpreter == compiler;
  std::vector<stan::Part> parts;
  if (both || options.interpreter) parts.push_back(stan::Part::interpreter);
  if (both || compiler) parts.push_back(stan::Part::compiler);
  return parts;
}

void install_header() {
  if (!stan::precompiled_header({}).empty()) {
    print("The precompiled header already exists\n");
    return;
  }
  print("Compiling Stan's headers once: about 20 seconds and 800 MB ...\n");
  std::fflush(stdout);
  stan::precompile_header({});
  print("  done: {}\n", stan::precompiled_header({}).string());
}

int install(const InstallOptions& options) {
  for (const stan::Part part : parts_to_install(options)) {
    const stan::Pin& pin = stan::pin(part);
    if (stan::status(part).installed) {
      print("Stan's {} is already installed ({} {})\n", stan::describe(part), pin.package,
            pin.version);
      continue;
    }
    print("Installing Stan's {} ({} {}) ...\n", stan::describe(part), pin.package, pin.version);
    std::fflush(stdout);
    stan::install(part, options.from);
    print("  done: {}\n", stan::status(part).folder.string());
  }
  if (options.header) install_header();
  return 0;
}

/// Whether the interpreter gives the right log density of the simplest program.
std::string test_interpreter() {
  stan::Program program;
  program.file = "self-test.stan";
  program.name = "self_test";
  program.code = program.whole = "parameters { real x; } model { x ~ normal(1, 1); }";
  BridgeDensity density = stan::interpret(program, "", 1);
  const double x = 3;
  double gradient = 0;
  const double value = density({&x, 1}, {&gradient, 1});
  if (value == -2 && gradient == -2) return "works";
  throw ModelError(fmt::format(
      "gives a log density of {} and a derivative of {}, expected -2 and -2", value, gradient));
}

/// Whether stanc runs and there is a compiler for what it writes.
std::string test_compiler() {
  const stan::Compiler compiler = stan::find_compiler("");
  const stan::ProgramResult result = stan::run_program({compiler.stanc.string(), "--version"});
  if (result.code != 0) throw ModelError(fmt::format("stanc does not run: {}", result.output));
  stan::compiler_identity({});  // throws if there is no C++ compiler
  return result.output.substr(0, result.output.find('\n'));
}

bool print_part(stan::Part part, std::string (*test)()) {
  const stan::Pin& pin = stan::pin(part);
  const stan::PartStatus status = stan::status(part);
  const std::string what = fmt::format("{:<12} {} {}", fmt::format("{}:", stan::describe(part)),
                                       pin.package, pin.version);
  if (!status.installed) {
    print("{}, {}; install it with: rehmc stan install --{}\n", what, status.problem,
          stan::describe(part));
    return false;
  }
  try {
    print("{}, {}\n", what, test());
  } catch (const std::exception& error) {
    print("{}, installed, but {}\n", what, error.what());
    return false;
  }
  return true;
}

int print_status() {
  const bool interpreter = print_part(stan::Part::interpreter, test_interpreter);
  const bool compiler = print_part(stan::Part::compiler, test_compiler);
  if (compiler) {
    const std::filesystem::path header = stan::precompiled_header({});
    print("{:<12} {}\n", "header:",
          header.empty() ? "not precompiled; `rehmc stan install --precompiled-header` halves "
                           "compile time and takes 800 MB"
                         : fmt::format("precompiled, {}", header.string()));
  }
  print("{:<12} {}\n", "folder:", stan::cache_folder().string());
  return interpreter && compiler ? 0 : 1;
}

}  // namespace

void add_stan(Command app, Action& chosen) {
  Command command = app.subcommand("stan", "Install what runs Stan programs");
  command.require_subcommand();
  Command installing = command.subcommand(
      "install", "Download Stan's interpreter and compiler with pip (both, unless one is named)");
  const auto options = std::make_shared<InstallOptions>();
  installing.flag("--interpreter", options->interpreter,
                  "runs Stan programs without a C++ compiler");
  installing.flag("--compiler", options->compiler, "compiles Stan programs; needs a C++ compiler");
  installing.flag("--precompiled-header", options->header,
                  "also compile Stan's headers once: halves the time to compile a program; "
                  "needs g++ and 800 MB");
  installing.option("--from", options->from, "install this wheel instead of downloading it")
      .type_name("WHEEL");
  installing.when_chosen([&chosen, options] { chosen = [options] { return install(*options); }; });
  Command status = command.subcommand(
      "status", "Show what is installed and whether it works; exit code 1 if something is missing");
  status.when_chosen([&chosen] { chosen = print_status; });
}

}  // namespace rehmc::cli
