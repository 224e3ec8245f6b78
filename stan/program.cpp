// Reads Stan programs and inserts the files that they include.
#include "stan/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/locale/utf.hpp>
#include <optional>
#include <regex>
#include <string_view>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"

namespace rehmc::stan {
namespace {

namespace files = std::filesystem;

/// Includes nested deeper than this are taken to be circular.
constexpr int deepest = 50;

/// DataError unless the text is UTF-8 without zero bytes.
void check_text(const std::string& text, const files::path& file) {
  using Utf8 = boost::locale::utf::utf_traits<char>;
  auto place = text.begin();
  while (place != text.end()) {
    const auto character = place;
    const auto point = Utf8::decode(place, text.end());  // moves `place` to the next character
    if (point != 0 && point != boost::locale::utf::illegal &&
        point != boost::locale::utf::incomplete) {
      continue;
    }
    throw DataError(fmt::format(
        "{}: line {} is not text in UTF-8 (byte {:#04x}); expected a Stan program", file.string(),
        1 + std::count(text.begin(), character, '\n'), static_cast<unsigned char>(*character)));
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

/// Whether a block comment is open after this line.
bool comment_open_after(std::string_view line, bool open) {
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
    in_comment = comment_open_after(line, in_comment);
    whole += line;
    whole += '\n';
  }
  return whole;
}

/// Where the comment or string that begins at `at` ends; `at` itself if none begins there.
std::size_t end_of_aside(std::string_view code, std::size_t at) {
  // `begin` is no part of the end: "/*/" opens a comment and does not close it.
  const auto after = [&](std::string_view begin, std::string_view end) {
    const std::size_t found = code.find(end, at + begin.size());
    return found == std::string_view::npos ? code.size() : found + end.size();
  };
  const std::string_view rest = code.substr(at);
  if (rest.starts_with("//")) return after("//", "\n");
  if (rest.starts_with("/*")) return after("/*", "*/");
  if (rest.starts_with('"')) return after("\"", "\"");
  return at;
}

/// DataError if brackets are nested so deeply that a translator would need minutes, or crash.
void check_nesting(const std::string& code, const files::path& file) {
  constexpr int most_open = 500;
  int depth = 0;
  visit_code(code, [&](std::size_t at) {
    if (std::string_view("([{").find(code[at]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(code[at]) != std::string_view::npos) --depth;
    if (depth <= most_open) return true;
    const auto here = code.begin() + static_cast<std::ptrdiff_t>(at);
    throw DataError(fmt::format(
        "{}: its brackets are nested more than {} deep (on line {} of the whole program); "
        "expected fewer",
        file.string(), most_open, 1 + std::count(code.begin(), here, '\n')));
  });
}

}  // namespace

void visit_code(std::string_view code, const std::function<bool(std::size_t)>& visit) {
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = end_of_aside(code, at);
    if (end == at && !visit(at)) return;
    at = std::max(end, at + 1);
  }
}

namespace {

/// The beginning of the first block whose head matches, outside of all others; the end of the text
/// if there is none.
std::size_t begin_of_block(const std::string& code, const std::regex& head) {
  int depth = 0;
  std::size_t end = code.size();
  visit_code(code, [&](std::size_t at) {
    if (code[at] == '{') ++depth;
    if (code[at] == '}') --depth;
    // Outside of all blocks nothing else can begin like a head.
    if (depth != 0 || !std::regex_search(code.begin() + static_cast<std::ptrdiff_t>(at), code.end(),
                                         head, std::regex_constants::match_continuous)) {
      return true;
    }
    end = at;
    return false;
  });
  return end;
}

}  // namespace

std::string without_generated(const std::string& code) {
  return code.substr(0, begin_of_block(code, std::regex(R"(generated\b)")));
}

std::string only_parameters(const std::string& code) {
  const std::regex rest(R"((transformed\s+parameters|model)\s*\{)");
  return code.substr(0, begin_of_block(code, rest)) + "\nmodel {}\n";
}

void for_each_code(const std::string& code, std::size_t from,
                   const std::function<bool(std::size_t)>& visit) {
  visit_code(std::string_view(code).substr(from), [&](std::size_t at) { return visit(from + at); });
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
  check_nesting(program.whole, file);
  return program;
}

Program read_stored_program(const files::path& file) {
  Program program;
  program.file = file;
  program.name = file.stem().string();
  program.code = read_file(file);
  check_text(program.code, file);
  for (std::size_t at = 0; at < program.code.size();) {
    const std::size_t end = end_of_aside(program.code, at);
    // The only use of this character in the language.
    if (end == at && program.code[at] == '#') {
      throw DataError(fmt::format(
          "{}: line {} includes a file, but the program of a run folder must be whole; sample the "
          "original program again",
          file.string(),
          1 + std::count(program.code.begin(),
                         program.code.begin() + static_cast<std::ptrdiff_t>(at), '\n')));
    }
    at = std::max(end, at + 1);
  }
  program.whole = program.code;
  check_nesting(program.whole, file);
  return program;
}

}  // namespace rehmc::stan
