// Asks the terminal and the environment.
#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace rehmc::cli {

namespace {

constexpr std::size_t usual_width = 80;
constexpr std::size_t least_width = 40;

/// The width that is known, if any.
std::optional<std::size_t> known_width() {
  const char* const told = std::getenv("COLUMNS");
  if (told != nullptr) {
    std::size_t width = 0;
    const char* const end = told + std::strlen(told);
    const auto [stop, error] = std::from_chars(told, end, width);
    if (error == std::errc{} && stop == end && width > 0) return std::max(width, least_width);
  }
  winsize size{};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col > 0) {
    return std::max<std::size_t>(size.ws_col, least_width);
  }
  return std::nullopt;
}

}  // namespace

std::size_t text_width() { return known_width().value_or(usual_width); }

bool can_redraw() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb";
}

std::string wrapped(std::string_view text, std::size_t indent) {
  const auto width = known_width();
  if (!width) return std::string(text);
  constexpr std::size_t widest = 100;  // longer lines are hard to read
  const std::size_t room = std::min(*width, widest);
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > indent && column + word.size() > room) {
      while (result.ends_with(' ')) result.pop_back();
      result += "\n" + std::string(indent, ' ');
      column = indent;
    }
    result += word;
    column += word.size();
    if (end < text.size()) {
      result += text[end];
      column = text[end] == '\n' ? 0 : column + 1;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace rehmc::cli
