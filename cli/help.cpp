// rehmc help: the help of a command, and the manual pages, both from what the commands declare.
#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "print.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc::cli {

namespace {

struct HelpOptions {
  std::vector<std::string> words;
  std::string pages;
};

/// The text as roff takes it: backslashes, hyphens, and dots that would begin a request.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

/// The names of an option, in bold, and what it takes.
std::string heading(const OptionInfo& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += fmt::format("{}\\fB{}\\fR", text.empty() ? "" : ", ", roff(name));
  }
  if (!option.takes_value || option.positional) return text;
  return text + fmt::format(" \\fI{}\\fR", option.type.empty() ? "VALUE" : roff(option.type));
}

/// One entry for each option, in bold with its help below it.
std::string entries_of(const std::vector<OptionInfo>& options) {
  std::string text;
  for (const OptionInfo& option : options) {
    text += fmt::format(
        ".TP\n{}\n{}{}\n", heading(option), roff(option.help),
        option.standard.empty() ? "" : fmt::format(" (default: {})", roff(option.standard)));
  }
  return text;
}

/// Arguments first, then options by their groups.
std::string options_sections(const CommandInfo& command) {
  std::vector<std::string> groups;
  std::map<std::string, std::vector<OptionInfo>> options;
  for (const OptionInfo& option : command.options) {
    std::string group = option.positional ? "arguments" : option.group;
    for (char& c : group) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!options.contains(group))
      groups.insert(option.positional ? groups.begin() : groups.end(), group);
    options[group].push_back(option);
  }
  std::string text;
  for (const std::string& group : groups) {
    text += fmt::format(".SH {}\n{}", roff(group), entries_of(options[group]));
  }
  return text;
}

/// The manual page of a command: `name` is such as rehmc-sample.
std::string manual_page(const std::string& name, const CommandInfo& command) {
  const std::string call = name == "rehmc" ? name : "rehmc " + command.name;
  std::string text =
      fmt::format(".TH \"{}\" 1 \"\" \"rehmc {}\" \"rehmc\"\n", roff(name), REHMC_VERSION);
  text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n\\fB{}\\fR", roff(name),
                      roff(command.help), roff(call));
  for (const OptionInfo& option : command.options) {
    if (option.positional) text += fmt::format(" \\fI{}\\fR", roff(option.names.front()));
  }
  text += command.commands.empty() ? " [options]\n" : " \\fICOMMAND\\fR [options]\n";
  if (!command.commands.empty()) {
    text += ".SH COMMANDS\n";
    for (const CommandInfo& each : command.commands) {
      text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(each.name), roff(each.help));
    }
  }
  text += options_sections(command);
  for (const CommandInfo& each : command.commands) {
    if (name == "rehmc") continue;
    text += fmt::format(".SH OPTIONS OF {}\n{}", roff(each.name), entries_of(each.options));
  }
  return text + ".SH SEE ALSO\n" + (name == "rehmc" ? "" : "\\fBrehmc\\fR(1); ") +
         "docs/command.md of the source describes how the options work together.\n";
}

int write_pages(const CommandInfo& all, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_whole(folder / "rehmc.1", manual_page("rehmc", all));
  for (const CommandInfo& command : all.commands) {
    const std::string name = "rehmc-" + command.name;
    write_whole(folder / (name + ".1"), manual_page(name, command));
  }
  return 0;
}

}  // namespace

void add_help(CommandLine& line, Action& chosen) {
  Command command = line.root().subcommand("help", "Show the options of a command, as --help does");
  const auto options = std::make_shared<HelpOptions>();
  std::vector<std::string> names;
  for (const CommandInfo& each : line.describe().commands) names.push_back(each.name);
  command.option("COMMAND", options->words, "the command; without one, all are listed")
      .words(names);
  command.option("--manual-pages", options->pages, "write the manual pages of all commands there")
      .type_name("DIR");
  command.when_chosen([&line, &chosen, options] {
    chosen = [&line, options] {
      if (!options->pages.empty()) return write_pages(line.describe(), options->pages);
      print("{}", line.help(options->words));
      return 0;
    };
  });
}

}  // namespace rehmc::cli
