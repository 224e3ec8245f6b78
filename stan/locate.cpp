// Cuts programs after each of their statements, and searches for the first cut that fails.
#include "stan/locate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/random.hpp"
#include "stan/interpret.hpp"
#include "stan/program.hpp"

namespace rehmc::stan {
namespace {

/// A statement: where it begins, where it ends, and how many braces are open there.
struct Statement {
  std::size_t begin = 0;
  std::size_t end = 0;
  int depth = 0;
  bool in_model = false;
};

/// The statements of the transformed parameters and the model, in the order of the text. A loop or
/// a condition whose body has braces is not one of them, but what its body holds.
std::vector<Statement> statements_of(const std::string& code) {
  std::vector<Statement> statements;
  const std::size_t from = only_parameters(code).size() - std::string_view("\nmodel {}\n").size();
  int depth = 0;
  int brackets = 0;  // a brace inside of brackets is a set of values
  bool in_model = false;
  std::optional<std::size_t> begin;
  for_each_code(code, from, [&](std::size_t at) {
    const char c = code[at];
    if (depth == 0 && std::string_view(code).substr(at).starts_with("generated")) return false;
    if (depth == 0 && std::string_view(code).substr(at).starts_with("model")) in_model = true;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) return true;
    if (c == '(' || c == '[') ++brackets;
    if (c == ')' || c == ']') --brackets;
    // In a statement that has an assignment, a brace opens an array.
    const bool array = begin && code.substr(*begin, at - *begin).find('=') != std::string::npos &&
                       code.substr(*begin, at - *begin).find('(') == std::string::npos;
    if ((c == '{' || c == '}') && (brackets > 0 || array)) return true;
    if (c == '{') {
      ++depth;
      begin.reset();
    } else if (c == '}') {
      --depth;
      begin.reset();
    } else if (depth > 0) {
      if (!begin) begin = at;
      if (c == ';' && brackets == 0) {
        statements.push_back({*begin, at + 1, depth, in_model});
        begin.reset();
      }
    }
    return true;
  });
  return statements;
}

/// The program up to the end of a statement.
std::string cut_after(const std::string& code, const Statement& statement) {
  return code.substr(0, statement.end) + "\n" +
         std::string(static_cast<std::size_t>(statement.depth), '}') +
         (statement.in_model ? "\n" : "\nmodel {}\n");
}

/// The message without its numbers, which depend on the point.
std::string kind_of(const std::string& message) {
  std::string kind;
  for (const char c : message) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') kind += c;
  }
  return kind;
}

/// Evaluates pieces of one program.
class Pieces {
 public:
  Pieces(const LocatedProgram& program, const std::string& message)
      : program_(program), kind_(kind_of(message)) {}

  /// Whether this text fails in this way at the point.
  bool fails(const std::string& code, std::span<const double> x) const {
    try {
      BridgeDensity density = model(code);
      return fails(density, x);
    } catch (const std::exception&) {
      return false;  // such a piece tells nothing
    }
  }

  /// A point where the whole program fails, if one is found soon.
  std::optional<std::vector<double>> failing_point() const {
    constexpr int tries = 50;
    BridgeDensity density = model(program_.whole);
    Stream stream({program_.seed, 0, 0}, Purpose::initial_point);
    std::vector<double> x(density.dimension());
    for (int i = 0; i < tries; ++i) {
      // Ever farther out: errors are often those of warmup.
      const double radius = 1 + 0.2 * i;
      for (double& coordinate : x) coordinate = radius * (2 * stream.uniform() - 1);
      if (fails(density, x)) return x;
    }
    return std::nullopt;
  }

 private:
  BridgeDensity model(const std::string& code) const {
    Program piece;
    piece.file = program_.name + ".stan";
    piece.name = program_.name;
    piece.code = piece.whole = without_generated(code);
    return interpret(piece, program_.data, program_.seed);
  }

  bool fails(BridgeDensity& density, std::span<const double> x) const {
    std::vector<double> gradient(x.size());
    try {
      density(x, gradient);
    } catch (const std::domain_error& error) {
      return kind_of(error.what()) == kind_;
    }
    return false;
  }

  const LocatedProgram& program_;
  std::string kind_;
};

}  // namespace

std::string locate_error(const LocatedProgram& program, const std::string& message) {
  if (message.find("(in '") != std::string::npos) return "";
  try {
    const Pieces pieces(program, message);
    const auto x = pieces.failing_point();
    if (!x) return "";
    const std::vector<Statement> statements = statements_of(program.whole);
    const auto guilty =
        std::partition_point(statements.begin(), statements.end(), [&](const Statement& statement) {
          return !pieces.fails(cut_after(program.whole, statement), *x);
        });
    if (guilty == statements.end()) return "";
    const auto line =
        std::count(program.whole.begin(),
                   program.whole.begin() + static_cast<std::ptrdiff_t>(guilty->begin), '\n');
    return fmt::format("(in '{}.stan', line {})", program.name, 1 + line);
  } catch (const std::exception&) {
    return "";  // the message is shown without a place
  }
}

}  // namespace rehmc::stan
