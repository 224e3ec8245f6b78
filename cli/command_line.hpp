// What rehmc uses of CLI11, compiled in one file because CLI11 is slow to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): its name is CLI11's
class App;
class Option;
}  // namespace CLI

namespace rehmc::cli {

/// An option, flag or positional argument; a handle, cheap to copy.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  Option type_name(const std::string& name);
  Option group(const std::string& heading);
  /// Shows the variable's current value as the default.
  Option show_default();
  Option show_default(const std::string& text);
  /// Rejects whole numbers outside of [least, most].
  Option range(std::int64_t least, std::int64_t most);
  /// Takes everything up to the next option.
  Option take_all();
  /// May be given several times, each with one value, so that a positional argument may follow.
  Option repeatable();
  /// Splits a value at this character.
  Option split_at(char delimiter);
  Option excludes(Option other);
  /// The words that a shell offers as values.
  Option words(std::vector<std::string> words);
  /// How often it was given.
  std::size_t count() const;

 private:
  CLI::Option* option_;
};

/// A command with its options; a handle, cheap to copy.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command subcommand(const std::string& name, const std::string& help);
  /// One of its subcommands must be given.
  void require_subcommand();
  /// Leaves it out of the help.
  void hide();
  /// Takes all words as they are, --help too: words() has them.
  void take_words();
  std::vector<std::string> words() const;

  /// Names as in "--output,-o", or "RUN" for a positional argument.
  Option option(const std::string& names, std::string& value, const std::string& help);
  Option option(const std::string& names, int& value, const std::string& help);
  Option option(const std::string& names, std::uint32_t& value, const std::string& help);
  Option option(const std::string& names, std::uint64_t& value, const std::string& help);
  Option option(const std::string& names, double& value, const std::string& help);
  Option option(const std::string& names, std::vector<std::string>& values,
                const std::string& help);
  Option option(const std::string& names, const std::function<void(const std::string&)>& set,
                const std::string& help);
  Option flag(const std::string& names, bool& value, const std::string& help);
  /// Names as in "--this,!--no-this": `set` gets which one was given.
  Option flag(const std::string& names, std::function<void(bool)> set, const std::string& help);
  /// Called after the command line was read, if it has this command.
  void when_chosen(std::function<void()> call);

 private:
  CLI::App* app_;
};

/// What help, manual pages and completions tell of an option or a positional argument.
struct OptionInfo {
  std::vector<std::string> names;  ///< as in --output, -o; of a positional argument as in RUN
  std::string help;
  std::string type;      ///< such as FILE; empty for words and numbers
  std::string standard;  ///< the default, if it is shown
  std::string group;
  std::vector<std::string> words;
  bool positional = false;
  bool takes_value = false;
};

struct CommandInfo {
  std::string name;
  std::string help;
  std::vector<OptionInfo> options;
  std::vector<CommandInfo> commands;  ///< without hidden ones
};

/// An error of the command line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The program itself: if an option is given twice, the last one counts, so that a script's can be
/// overridden.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& version);
  ~CommandLine();

  Command root();
  CommandInfo describe() const;
  /// The help of the command that these words name, as --help prints it. UsageError if there is no
  /// such command.
  std::string help(const std::vector<std::string>& words) const;
  /// The names of all options of the command that was parsed, as in --draws.
  std::vector<std::string> option_names() const;
  /// The words that name the command that was parsed, as in "rehmc stan install".
  std::string command_words() const;
  /// Throws UsageError, and ConfigError for a value that its option does not take. Returns an exit
  /// code if help or the version was requested and printed.
  std::optional<int> parse(int count, char** words);

 private:
  /// The command that the line named, as far as it did.
  const CLI::App& deepest() const;

  std::unique_ptr<CLI::App> app_;
};

}  // namespace rehmc::cli
