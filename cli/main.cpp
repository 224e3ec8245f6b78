// The command rehmc: reads the command line, runs one command, and tells errors in one line.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "command.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/suggest.hpp"

namespace {

using namespace rehmc;

/// What is wrong with the command line, in a line or two.
void tell_usage(const CLI::App& app, const CLI::ParseError& error, int count, char** words) {
  const std::string first = count > 1 ? words[1] : "";
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  const bool known = std::find(names.begin(), names.end(), first) != names.end();
  if (!known && !first.empty() && first.front() != '-') {
    fmt::print(stderr, "rehmc: there is no command '{}'{}\nThe commands: rehmc --help\n", first,
               did_you_mean(first, names));
    return;
  }
  fmt::print(stderr, "rehmc: {}\nWhat there is: rehmc{}{} --help\n", error.what(), known ? " " : "",
             known ? first : "");
}

/// Rooms call settings by their names in code; the command line writes them as options.
std::string as_option(const std::string& message) {
  constexpr std::string_view start = "setting ";
  if (!message.starts_with(start)) return message;
  const std::size_t end = message.find(':');
  std::string name = message.substr(start.size(), end - start.size());
  std::replace(name.begin(), name.end(), '_', '-');
  return fmt::format("--{}{}", name, message.substr(end));
}

}  // namespace

int main(int count, char** words) {
  // Summaries make and drop large arrays; to take them from the system each time would cost a fifth
  // of the time.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
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
  cli::add_compile(app, chosen);
  cli::add_cmdstan_exe(app, chosen);
  cli::add_stan(app, chosen);
  cli::add_paper(app, chosen);

  try {
    app.parse(count, words);
    return chosen();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // prints help or the version
    tell_usage(app, error, count, words);
    return static_cast<int>(ExitCode::usage);
  } catch (const Error& error) {
    fmt::print(stderr, "rehmc: {}\n", as_option(error.what()));
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "rehmc: {}\n", error.what());
    return static_cast<int>(ExitCode::software);
  }
}
