// The command rehmc: reads the command line, runs one command, and tells errors in one line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "command.hpp"
#include "rehmc/core/error.hpp"

int main(int count, char** words) {
  using namespace rehmc;
  CLI::App app("Hamiltonian Monte Carlo that throws no gradient away", "rehmc");
  app.set_version_flag("--version", "rehmc " REHMC_VERSION);
  app.require_subcommand(1);
  app.option_defaults()->take_last();  // so that a script's options can be overridden
  cli::Action chosen;
  cli::add_sample(app, chosen);
  cli::add_summary(app, chosen);
  cli::add_report(app, chosen);
  cli::add_resume(app, chosen);
  cli::add_extend(app, chosen);
  cli::add_check(app, chosen);
  cli::add_models(app, chosen);
  cli::add_check_gradient(app, chosen);

  try {
    app.parse(count, words);
    return chosen();
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);  // prints help, version or what is wrong
    return code == 0 ? 0 : static_cast<int>(ExitCode::usage);
  } catch (const Error& error) {
    fmt::print(stderr, "rehmc: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "rehmc: {}\n", error.what());
    return static_cast<int>(ExitCode::software);
  }
}
