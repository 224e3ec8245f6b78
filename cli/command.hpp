// The commands of rehmc, one file each: every function adds its own to the command line.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace rehmc::cli {

/// What the chosen command does; returns the exit code. Errors are thrown and told by main.
using Action = std::function<int()>;

void add_sample(CLI::App& app, Action& chosen);
void add_summary(CLI::App& app, Action& chosen);
void add_report(CLI::App& app, Action& chosen);
void add_resume(CLI::App& app, Action& chosen);
void add_extend(CLI::App& app, Action& chosen);
void add_check(CLI::App& app, Action& chosen);
void add_models(CLI::App& app, Action& chosen);
void add_check_gradient(CLI::App& app, Action& chosen);
void add_cmdstan_exe(CLI::App& app, Action& chosen);
void add_compile(CLI::App& app, Action& chosen);
void add_stan(CLI::App& app, Action& chosen);
void add_paper(CLI::App& app, Action& chosen);

}  // namespace rehmc::cli
