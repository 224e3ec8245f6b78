// The command line by CLI11; the only file that includes it.
#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc::cli {
namespace {

/// Rejects signs and numbers that are too large, both of which CLI11 would wrap around.
template <class Value>
std::string refuse_unless_whole(const std::string& text) {
  Value value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end
             ? ""
             : fmt::format("found '{}', expected a whole number of at least 0", text);
}

template <class Value>
CLI::Option* whole_number(CLI::App& app, const std::string& names, Value& value,
                          const std::string& help) {
  return app.add_option(names, value, help)->check(refuse_unless_whole<Value>);
}

/// The words that options take, for completions: CLI11 has no place for them.
std::map<const CLI::Option*, std::vector<std::string>>& known_words() {
  static std::map<const CLI::Option*, std::vector<std::string>> words;
  return words;
}

/// An empty text is never meant: a variable of a script was not set.
std::string refuse_empty(const std::string& text) {
  return text.empty() ? "found nothing, expected a value" : "";
}

}  // namespace

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option Option::show_default(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option Option::range(std::int64_t least, std::int64_t most) {
  option_->check([least, most](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc{} && stop == end && value >= least && value <= most) return "";
    return fmt::format("found '{}', expected a whole number from {} to {}", text, least, most);
  });
  return *this;
}

Option Option::take_all() {
  option_->take_all();
  return *this;
}

Option Option::repeatable() {
  option_->allow_extra_args(false)->take_all();
  return *this;
}

Option Option::split_at(char delimiter) {
  option_->delimiter(delimiter);
  return *this;
}

Option Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

Option Option::words(std::vector<std::string> words) {
  known_words()[option_] = std::move(words);
  return *this;
}

std::size_t Option::count() const { return option_->count(); }

Command Command::subcommand(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}

void Command::require_subcommand() { app_->require_subcommand(1); }

void Command::hide() { app_->group(""); }

void Command::take_words() {
  app_->prefix_command();
  app_->set_help_flag();
}

std::vector<std::string> Command::words() const { return app_->remaining(); }

Option Command::option(const std::string& names, std::string& value, const std::string& help) {
  return Option(app_->add_option(names, value, help)->check(refuse_empty));
}

Option Command::option(const std::string& names, int& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::option(const std::string& names, std::uint32_t& value, const std::string& help) {
  return Option(whole_number(*app_, names, value, help));
}

Option Command::option(const std::string& names, std::uint64_t& value, const std::string& help) {
  return Option(whole_number(*app_, names, value, help));
}

Option Command::option(const std::string& names, double& value, const std::string& help) {
  return Option(app_->add_option(names, value, help)->check([](const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end ? ""
                                               : fmt::format("found '{}', expected a number", text);
  }));
}

Option Command::option(const std::string& names, std::vector<std::string>& values,
                       const std::string& help) {
  return Option(app_->add_option(names, values, help)->check(refuse_empty));
}

Option Command::option(const std::string& names, const std::function<void(const std::string&)>& set,
                       const std::string& help) {
  return Option(app_->add_option_function<std::string>(names, set, help)->check(refuse_empty));
}

Option Command::flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}

Option Command::flag(const std::string& names, std::function<void(bool)> set,
                     const std::string& help) {
  return Option(app_->add_flag(
      names, [set = std::move(set)](std::int64_t count) { set(count > 0); }, help));
}

void Command::when_chosen(std::function<void()> call) { app_->callback(std::move(call)); }

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->set_version_flag("--version", name + " " + version);
  app_->option_defaults()->take_last();
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() { return Command(app_.get()); }

namespace {

OptionInfo info_of(const CLI::Option& option) {
  OptionInfo info;
  info.positional = option.get_positional();
  if (info.positional) {
    info.names.push_back(option.get_single_name());
  } else {
    for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  }
  info.help = option.get_description();
  info.takes_value = option.get_items_expected_max() > 0;
  info.type = option.get_type_name();
  info.standard = option.get_default_str();
  info.group = option.get_group();
  const auto found = known_words().find(&option);
  if (found != known_words().end()) info.words = found->second;
  return info;
}

CommandInfo info_of(const CLI::App& app) {
  CommandInfo info{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) info.options.push_back(info_of(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) info.commands.push_back(info_of(*command));
  }
  return info;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CommandInfo& command : info_of(app).commands) names.push_back(command.name);
  return names;
}

/// What is wrong with words that no option takes.
std::string unexpected(const std::vector<std::string>& words,
                       const std::vector<std::string>& options, const CLI::App& command) {
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word.front() == '-';
  });
  if (option != words.end()) {
    const std::string name = option->substr(0, option->find('='));
    return fmt::format("there is no option '{}'{}", name, did_you_mean(name, options));
  }
  const std::vector<std::string> commands = names_of_commands(command);
  if (words.empty() || commands.empty()) {
    return fmt::format("'{}' was not expected", words.empty() ? "" : words.front());
  }
  return fmt::format("there is no command '{}'{}", words.front(),
                     did_you_mean(words.front(), commands));
}

/// The option that an error of CLI11 names, which comes before a colon.
std::string option_in(const std::string& message) { return message.substr(0, message.find(':')); }

}  // namespace

CommandInfo CommandLine::describe() const { return info_of(*app_); }

const CLI::App& CommandLine::deepest() const {
  const CLI::App* command = app_.get();
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  return *command;
}

std::vector<std::string> CommandLine::option_names() const {
  std::vector<std::string> names;
  for (const OptionInfo& option : info_of(deepest()).options) {
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::string CommandLine::command_words() const {
  std::string words = app_->get_name();
  for (const CLI::App* command = app_.get(); !command->get_subcommands().empty();) {
    command = command->get_subcommands().back();
    words += " " + command->get_name();
  }
  return words;
}

std::string CommandLine::help(const std::vector<std::string>& words) const {
  const CLI::App* command = app_.get();
  for (const std::string& word : words) {
    const auto found = command->get_subcommands([&](const CLI::App* each) {
      return each->get_name() == word && !each->get_group().empty();
    });
    if (found.empty()) {
      throw UsageError(fmt::format("there is no command '{}'{}", word,
                                   did_you_mean(word, names_of_commands(*command))));
    }
    command = found.front();
  }
  std::string before = app_->get_name();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) before += " " + words[i];
  // App::help() would print that of the command that was parsed.
  return command->get_formatter()->make_help(
      command, words.empty() ? before : before + " " + words.back(), CLI::AppFormatMode::Normal);
}

std::optional<int> CommandLine::parse(int count, char** words) {
  try {
    app_->parse(count, words);
    return std::nullopt;
  } catch (const CLI::ExtrasError&) {
    throw UsageError(unexpected(app_->remaining(true), option_names(), deepest()));
  } catch (const CLI::ArgumentMismatch& error) {
    throw UsageError(option_in(error.what()) + " needs a value");
  } catch (const CLI::ValidationError& error) {
    throw ConfigError(error.what());
  } catch (const CLI::ConversionError& error) {
    throw ConfigError(fmt::format("{}: cannot read its value", option_in(error.what())));
  } catch (const CLI::RequiredError& error) {
    const std::vector<std::string> names = names_of_commands(deepest());
    const std::string_view message = error.what();
    if (message.find("subcommand") != std::string_view::npos) {
      const std::vector<std::string> rest = app_->remaining(true);
      if (!rest.empty()) throw UsageError(unexpected(rest, option_names(), deepest()));
      throw UsageError(fmt::format("a command is missing: {}", fmt::join(names, ", ")));
    }
    throw UsageError(fmt::format("{} is missing", message.substr(0, message.find(" is "))));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_->exit(error);
    throw UsageError(error.what());
  }
}

}  // namespace rehmc::cli
