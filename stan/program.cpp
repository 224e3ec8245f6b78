// Reads Stan programs, and puts included files in their places.
#include "stan/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"

namespace rehmc::stan {
namespace {

namespace files = std::filesystem;

/// Includes within includes beyond this are taken for a circle.
constexpr int deepest = 50;

/// How many bytes the character that begins here has; 0 if none does.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
    point = (point << 6) | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  return point < least[length] || point > 0x10FFFF || surrogate ? 0 : length;
}

void check_text(const std::string& text, const files::path& file) {
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length =
        text[i] == '\0' ? 0 : character_length(std::string_view(text).substr(i));
    if (length == 0) {
      throw DataError(
          fmt::format("{}: line {} is not text in UTF-8 (byte {:#04x}); expected a Stan "
                      "program",
                      file.string(), line, static_cast<unsigned char>(text[i])));
    }
    if (text[i] == '\n') ++line;
    i += length;
  }
}

/// The name of the file that a line includes, if it does.
std::optional<std::string> included_name(std::string_view line) {
  const auto skip_blanks = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip_blanks();
  constexpr std::string_view directive = "#include";
  if (!line.starts_with(directive)) return std::nullopt;
  line.remove_prefix(directive.size());
  skip_blanks();
  const char closing = line.starts_with('<') ? '>' : line.starts_with('"') ? '"' : '\0';
  if (closing != '\0') {
    line.remove_prefix(1);
    return std::string(line.substr(0, line.find(closing)));
  }
  return std::string(line.substr(0, line.find_first_of(" \t\r")));
}

/// Whether a block comment is open behind this line.
bool comment_open_behind(std::string_view line, bool open) {
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const std::string_view two = line.substr(i, 2);
    if (open && two == "*/") {
      open = false;
      ++i;
    } else if (!open && two == "//") {
      return false;
    } else if (!open && two == "/*") {
      open = true;
      ++i;
    }
  }
  return open;
}

std::string expand(const std::string& code, const std::vector<std::string>& folders, int depth) {
  std::string whole;
  std::string_view rest = code;
  bool in_comment = false;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto name = in_comment ? std::nullopt : included_name(line);
    files::path found;
    if (name && depth < deepest) {
      for (const std::string& folder : folders) {
        if (found.empty() && files::is_regular_file(files::path(folder) / *name)) {
          found = files::path(folder) / *name;
        }
      }
    }
    if (!found.empty()) {
      const std::string text = read_file(found);
      check_text(text, found);
      whole += expand(text, folders, depth + 1);
      if (!whole.empty() && whole.back() != '\n') whole += '\n';
      continue;
    }
    in_comment = comment_open_behind(line, in_comment);
    whole += line;
    whole += '\n';
  }
  return whole;
}

/// The place behind the comment or the string that begins at `at`; `at` itself if none does.
std::size_t behind_aside(std::string_view code, std::size_t at) {
  const auto behind = [&](std::string_view end) {
    const std::size_t found = code.find(end, at + 1);
    return found == std::string_view::npos ? code.size() : found + end.size();
  };
  const std::string_view rest = code.substr(at);
  if (rest.starts_with("//")) return behind("\n");
  if (rest.starts_with("/*")) return behind("*/");
  if (rest.starts_with('"')) return behind("\"");
  return at;
}

}  // namespace

std::string without_generated(const std::string& code) {
  constexpr std::string_view keyword = "generated";
  int depth = 0;
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t behind = behind_aside(code, at);
    if (behind > at) {
      at = behind;
      continue;
    }
    if (code[at] == '{') ++depth;
    if (code[at] == '}') --depth;
    // Outside of all blocks nothing else can begin so.
    if (depth == 0 && std::string_view(code).substr(at).starts_with(keyword)) {
      return code.substr(0, at);
    }
    ++at;
  }
  return code;
}

Program read_program(const files::path& file, const std::vector<std::string>& include_paths) {
  for (const std::string& folder : include_paths) {
    if (!files::is_directory(folder)) {
      throw NoInputError(fmt::format("--include-path: there is no folder {}", folder));
    }
  }
  Program program;
  program.file = file;
  program.name = file.stem().string();
  program.code = read_file(file);
  check_text(program.code, file);
  program.include_paths = include_paths;
  program.include_paths.push_back(file.has_parent_path() ? file.parent_path().string() : ".");
  program.whole = expand(program.code, program.include_paths, 0);
  return program;
}

}  // namespace rehmc::stan
