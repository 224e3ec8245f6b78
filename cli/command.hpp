// The commands of rehmc, one file each: every function adds its own to the command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command_line.hpp"

namespace rehmc::cli {

/// What the chosen command does; returns the exit code. Throws errors, which main prints.
using Action = std::function<int()>;

void add_sample(Command app, Action& chosen);
void add_summary(Command app, Action& chosen);
void add_sharpen(Command app, Action& chosen);
void add_report(Command app, Action& chosen);
void add_generate(Command app, Action& chosen);
void add_export(Command app, Action& chosen);
void add_resume(Command app, Action& chosen);
void add_extend(Command app, Action& chosen);
void add_check(Command app, Action& chosen);
void add_models(Command app, Action& chosen);
void add_check_gradient(Command app, Action& chosen);
void add_cmdstan_exe(Command app, Action& chosen);
void add_compile(Command app, Action& chosen);
void add_stan(Command app, Action& chosen);
void add_paper(Command app, Action& chosen);
/// `rehmc sample` with these words; `shown_model` is what to name as the model, to run it again.
int sample_by_words(std::vector<std::string> words, const std::string& shown_model);

// These tell of all commands, and must be added last.
void add_help(CommandLine& line, Action& chosen);
void add_completion(CommandLine& line, Action& chosen);

}  // namespace rehmc::cli
