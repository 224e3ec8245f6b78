// rehmc completion: what lets a shell complete commands, options and their values.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "models/registry.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc::cli {

namespace {

/// What may stand in a place.
enum class Kind { words, files, folders, models, nothing };

Kind kind_of(const OptionInfo& option) {
  if (!option.words.empty()) return Kind::words;
  const std::string& name = option.names.front();
  if (option.positional) {
    if (name == "MODEL") return Kind::models;
    if (name == "RUN") return Kind::folders;
    return name == "PROGRAM" || name == "RUN|CSV" ? Kind::files : Kind::nothing;
  }
  if (option.type == "DIR") return Kind::folders;
  return option.type == "FILE" || option.type == "WHEEL" ? Kind::files : Kind::nothing;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelInfo& info : built_in_models()) names.push_back(info.name);
  return names;
}

/// The positional argument of a command; nullptr if it takes none.
const OptionInfo* argument_of(const CommandInfo& command) {
  const auto found = std::find_if(command.options.begin(), command.options.end(),
                                  [](const OptionInfo& option) { return option.positional; });
  return found == command.options.end() ? nullptr : &*found;
}

std::vector<std::string> option_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options) {
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

/// A text inside single quotes of any of these shells.
std::string without_quotes(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string("’") : std::string(1, c);
  return result;
}

// bash: one function that looks at the words before the cursor.

std::string bash_values(Kind kind, const std::vector<std::string>& words) {
  switch (kind) {
    case Kind::words:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))", fmt::join(words, " "));
    case Kind::files:
      return "COMPREPLY=($(compgen -f -- \"$current\"))";
    case Kind::folders:
      return "COMPREPLY=($(compgen -d -- \"$current\"))";
    case Kind::models:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -f -- \"$current\"))",
                         fmt::join(model_names(), " "));
    case Kind::nothing:
      break;
  }
  return "COMPREPLY=()";
}

std::string bash_command(const CommandInfo& command) {
  std::string text = fmt::format("    {})\n      case $previous in\n", command.name);
  for (const OptionInfo& option : command.options) {
    if (option.positional || !option.takes_value) continue;
    text += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"),
                        bash_values(kind_of(option), option.words));
  }
  text += "      esac\n";
  std::vector<std::string> words = option_names(command);
  for (const CommandInfo& each : command.commands) {
    words.push_back(each.name);
    const std::vector<std::string> more = option_names(each);
    words.insert(words.end(), more.begin(), more.end());
  }
  text += fmt::format(
      "      if [[ $current == -* || {} == 1 ]]; then\n"
      "        COMPREPLY=($(compgen -W '{}' -- \"$current\"))\n"
      "      else\n        {}\n      fi ;;\n",
      command.commands.empty() ? 0 : 1, fmt::join(words, " "),
      argument_of(command) == nullptr
          ? "COMPREPLY=()"
          : bash_values(kind_of(*argument_of(command)), argument_of(command)->words));
  return text;
}

std::string bash(const CommandInfo& all) {
  std::vector<std::string> names = option_names(all);
  std::string commands;
  for (const CommandInfo& command : all.commands) {
    names.push_back(command.name);
    commands += bash_command(command);
  }
  return fmt::format(
      "# Completion of rehmc for bash: source it, or put it where bash-completion looks.\n"
      "_rehmc() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  if [[ $COMP_CWORD == 1 ]]; then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$current\"))\n    return\n  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n}}\n"
      "complete -o filenames -F _rehmc rehmc\n",
      fmt::join(names, " "), commands);
}

// zsh: _arguments does the work.

/// Colons and brackets separate the parts of a specification.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : without_quotes(text)) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_values(Kind kind, const std::vector<std::string>& words) {
  switch (kind) {
    case Kind::words:
      return fmt::format("({})", fmt::join(words, " "));
    case Kind::files:
      return "_files";
    case Kind::folders:
      return "_files -/";
    case Kind::models:
      return fmt::format("{{ compadd {}; _files }}", fmt::join(model_names(), " "));
    case Kind::nothing:
      break;
  }
  return " ";
}

std::string zsh_option(const OptionInfo& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += fmt::format("        '{}[{}]", name, zsh_text(option.help));
    if (option.takes_value)
      text += fmt::format(":value:{}", zsh_values(kind_of(option), option.words));
    text += "' \\\n";
  }
  return text;
}

std::string zsh_command(const CommandInfo& command) {
  std::string text = fmt::format("    {})\n      _arguments \\\n", command.name);
  for (const OptionInfo& option : command.options) {
    if (!option.positional) text += zsh_option(option);
  }
  for (const CommandInfo& each : command.commands) {
    for (const OptionInfo& option : each.options) {
      if (option.names.front() != "--help") text += zsh_option(option);
    }
  }
  std::vector<std::string> names;
  for (const CommandInfo& each : command.commands) names.push_back(each.name);
  const OptionInfo* const argument = argument_of(command);
  text += fmt::format("        '*::argument:{}' ;;\n",
                      !names.empty()        ? zsh_values(Kind::words, names)
                      : argument == nullptr ? " "
                                            : zsh_values(kind_of(*argument), argument->words));
  return text;
}

std::string zsh(const CommandInfo& all) {
  std::string names;
  std::string commands;
  for (const CommandInfo& command : all.commands) {
    names += fmt::format("      '{}:{}'\n", command.name, zsh_text(command.help));
    commands += zsh_command(command);
  }
  return fmt::format(
      "#compdef rehmc\n"
      "# Completion of rehmc for zsh: put it into a folder of $fpath as _rehmc.\n"
      "_rehmc() {{\n"
      "  if (( CURRENT == 2 )); then\n"
      "    local -a commands=(\n{}    )\n"
      "    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n"
      "  shift words; (( CURRENT-- ))\n"
      "  case $command in\n{}  esac\n}}\n"
      "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _rehmc \"$@\"; else compdef _rehmc "
      "rehmc; fi\n",
      names, commands);
}

// fish: one line for each option.

std::string fish_option(const std::string& command, const OptionInfo& option) {
  std::string text = fmt::format("complete -c rehmc -n '__fish_seen_subcommand_from {}'", command);
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                   : fmt::format(" -s {}", name.substr(1));
  }
  if (option.takes_value) {
    const Kind kind = kind_of(option);
    text += kind == Kind::files     ? " -r -F"
            : kind == Kind::folders ? " -x -a '(__fish_complete_directories)'"
            : kind == Kind::words   ? fmt::format(" -x -a '{}'", fmt::join(option.words, " "))
                                    : " -x";
  }
  return text + fmt::format(" -d '{}'\n", without_quotes(option.help));
}

std::string fish_argument(const CommandInfo& command) {
  const OptionInfo* const argument = argument_of(command);
  const std::string start =
      fmt::format("complete -c rehmc -n '__fish_seen_subcommand_from {}'", command.name);
  if (argument == nullptr) return "";
  switch (kind_of(*argument)) {
    case Kind::models:
      return fmt::format("{} -F -a '{}'\n", start, fmt::join(model_names(), " "));
    case Kind::files:
      return start + " -F\n";
    case Kind::folders:
      return start + " -a '(__fish_complete_directories)'\n";
    case Kind::words:
      return fmt::format("{} -a '{}'\n", start, fmt::join(argument->words, " "));
    case Kind::nothing:
      break;
  }
  return "";
}

std::string fish(const CommandInfo& all) {
  std::string text =
      "# Completion of rehmc for fish: put it into a completions folder as rehmc.fish.\n"
      "complete -c rehmc -f\n";
  for (const CommandInfo& command : all.commands) {
    text += fmt::format("complete -c rehmc -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        without_quotes(command.help));
    for (const OptionInfo& option : command.options) {
      if (!option.positional) text += fish_option(command.name, option);
    }
    for (const CommandInfo& each : command.commands) {
      text += fmt::format("complete -c rehmc -n '__fish_seen_subcommand_from {}' -a {} -d '{}'\n",
                          command.name, each.name, without_quotes(each.help));
      for (const OptionInfo& option : each.options) {
        if (option.names.front() != "--help") text += fish_option(each.name, option);
      }
    }
    text += fish_argument(command);
  }
  return text;
}

int print_completion(const CommandInfo& all, const std::string& shell) {
  const std::vector<std::string> shells{"bash", "zsh", "fish"};
  if (shell == "bash") {
    print("{}", bash(all));
  } else if (shell == "zsh") {
    print("{}", zsh(all));
  } else if (shell == "fish") {
    print("{}", fish(all));
  } else {
    throw ConfigError(fmt::format("SHELL: found '{}', expected bash, zsh or fish{}", shell,
                                  did_you_mean(shell, shells)));
  }
  return 0;
}

}  // namespace

void add_completion(CommandLine& line, Action& chosen) {
  Command command =
      line.root().subcommand("completion", "Print what lets a shell complete commands and options");
  const auto shell = std::make_shared<std::string>();
  command.option("SHELL", *shell, "bash, zsh or fish").required().words({"bash", "zsh", "fish"});
  command.when_chosen([&line, &chosen, shell] {
    chosen = [&line, shell] { return print_completion(line.describe(), *shell); };
  });
}

}  // namespace rehmc::cli
