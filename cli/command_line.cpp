// The command line by CLI11; the only file that includes it.
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <utility>

namespace rehmc::cli {
namespace {

/// Rejects signs and numbers that are too large, both of which CLI11 would wrap around.
template <class Value>
std::string refuse_unless_whole(const std::string& text) {
  Value value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end ? "" : text + ": expected a whole number";
}

template <class Value>
CLI::Option* whole_number(CLI::App& app, const std::string& names, Value& value,
                          const std::string& help) {
  return app.add_option(names, value, help)->check(refuse_unless_whole<Value>);
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
  option_->check(CLI::Range(least, most));
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
  return Option(app_->add_option(names, value, help));
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

std::vector<std::string> CommandLine::command_names() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::optional<int> CommandLine::parse(int count, char** words) {
  try {
    app_->parse(count, words);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_->exit(error);
    throw UsageError(error.what());
  }
}

}  // namespace rehmc::cli
