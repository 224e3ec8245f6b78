// Follows names through the statements of a block.
//
// A name stands for its variable wherever it occurs: two variables of one name, in different
// scopes, count as one.
#include "stan/random_quantities.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <vector>

#include "stan/program.hpp"

namespace rehmc::stan {
namespace {

using Names = std::set<std::string>;

/// Names, numbers, and single characters for everything else.
using Tokens = std::vector<std::string>;

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name(const std::string& token) {
  return std::isalpha(static_cast<unsigned char>(token.front())) != 0;
}

Tokens tokens_of(std::string_view code) {
  Tokens tokens;
  std::size_t last = 0;
  visit_code(code, [&](std::size_t at) {
    const char c = code[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) return true;
    const bool continues =
        !tokens.empty() && at > 0 && last == at - 1 && in_name(c) && in_name(tokens.back().back());
    if (continues) {
      tokens.back() += c;
    } else {
      tokens.emplace_back(1, c);
    }
    last = at;
    return true;
  });
  return tokens;
}

/// The tokens between the brackets of the block that `keywords` begin; none if there is none.
Tokens block_of(const Tokens& tokens, const Tokens& keywords) {
  const auto begin = std::search(tokens.begin(), tokens.end(), keywords.begin(), keywords.end());
  Tokens block;
  int depth = 0;
  for (auto token = begin; token != tokens.end(); ++token) {
    if (*token == "}" && --depth == 0) break;
    if (depth > 0) block.push_back(*token);
    if (*token == "{") ++depth;
  }
  return block;
}

/// Part of a list of tokens.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Thrown where a program is not what stanc would accept.
struct NotUnderstood {};

class Flow {
 public:
  explicit Flow(Tokens tokens) : tokens_(std::move(tokens)) {}

  /// The random names, once no more can be found. A loop may carry them back to its beginning.
  Names find() {
    std::size_t before = 0;
    do {
      before = random_.size();
      escapes_ = false;
      statements({0, tokens_.size()}, false);
    } while (random_.size() > before);
    return random_;
  }

 private:
  const std::string& token(std::size_t at) const {
    if (at >= tokens_.size()) throw NotUnderstood{};
    return tokens_[at];
  }
  static bool opens(const std::string& token) {
    return token == "(" || token == "[" || token == "{";
  }
  static bool closes(const std::string& token) {
    return token == ")" || token == "]" || token == "}";
  }
  /// After the bracket that closes the one at `at`.
  std::size_t after(std::size_t at) const {
    int depth = 0;
    do {
      if (opens(token(at))) ++depth;
      if (closes(token(at))) --depth;
      ++at;
    } while (depth > 0);
    return at;
  }
  /// The first of these tokens outside of brackets, or the end of the range.
  template <class Wanted>
  std::size_t find_outside(Range range, const Wanted& wanted) const {
    for (std::size_t at = range.begin; at < range.end;) {
      if (wanted(at)) return at;
      at = opens(token(at)) ? after(at) : at + 1;
    }
    return range.end;
  }

  bool is_random(Range range) const {
    return std::any_of(
        tokens_.begin() + static_cast<std::ptrdiff_t>(range.begin),
        tokens_.begin() + static_cast<std::ptrdiff_t>(range.end),
        [&](const std::string& t) { return t.ends_with("_rng") || random_.contains(t); });
  }

  void statements(Range range, bool random) {
    for (std::size_t at = range.begin; at < range.end;) at = statement(at, random || escapes_);
  }

  /// Returns where the next statement begins. `random`: whether it is reached depends on chance.
  std::size_t statement(std::size_t at, bool random) {
    const std::string& first = token(at);
    if (first == "{") {
      const std::size_t end = after(at);
      statements({at + 1, end - 1}, random);
      return end;
    }
    if (first == "profile") return statement(after(at + 1), random);
    if (first == "if") return choice(at, random);
    if (first == "for" || first == "while") return loop(at, random);
    const std::size_t end =
        find_outside({at, tokens_.size()}, [&](std::size_t k) { return tokens_[k] == ";"; });
    simple({at, end}, random);
    return end + 1;
  }

  std::size_t choice(std::size_t at, bool random) {
    const std::size_t body = after(at + 1);
    const bool inside = random || is_random({at + 1, body});
    const std::size_t end = statement(body, inside);
    if (end < tokens_.size() && tokens_[end] == "else") return statement(end + 1, inside);
    return end;
  }

  std::size_t loop(std::size_t at, bool random) {
    const std::size_t body = after(at + 1);
    const bool inside = random || is_random({at + 1, body});
    if (token(at) == "for" && inside) random_.insert(token(at + 2));
    const bool escaped_before = escapes_;
    const std::size_t end = statement(body, inside);
    // How often the body is run depends on chance if a break in it does.
    if (escapes_ && !inside) statement(body, true);
    escapes_ = escaped_before;
    return end;
  }

  void simple(Range range, bool random) {
    if (range.begin == range.end) return;
    const std::string& first = tokens_[range.begin];
    if (first == "break" || first == "continue") {
      escapes_ = escapes_ || random;
    } else if (const auto type_end = end_of_type(range)) {
      declare({*type_end, range.end}, random);
    } else {
      assign(range, random);
    }
  }

  /// Where the type of a declaration ends; none for other statements. A type is a word, followed by
  /// bounds, sizes or, for a tuple, types, and for an array by another type.
  std::optional<std::size_t> end_of_type(Range range) const {
    std::size_t at = range.begin;
    if (!is_name(tokens_[at])) return std::nullopt;
    const bool array = tokens_[at++] == "array";
    if (at < range.end && tokens_[at] == "<") at = behind_bounds(at);
    while (at < range.end && (tokens_[at] == "[" || tokens_[at] == "(")) at = after(at);
    if (at >= range.end || !is_name(tokens_[at])) return std::nullopt;
    return array ? end_of_type({at, range.end}) : at;
  }

  /// After the bounds that begin here. In bounds, comparisons stand in brackets.
  std::size_t behind_bounds(std::size_t at) const {
    const std::size_t end =
        find_outside({at, tokens_.size()}, [&](std::size_t k) { return tokens_[k] == ">"; });
    return end + 1;
  }

  /// Variables of one type, with or without a value.
  void declare(Range range, bool random) {
    while (range.begin < range.end) {
      const std::size_t end = find_outside(range, [&](std::size_t k) { return tokens_[k] == ","; });
      const std::string& name = tokens_[range.begin];
      if (random || is_random({range.begin + 1, end})) random_.insert(name);
      range.begin = end + 1;
    }
  }

  /// A value to a variable, to some of its elements, or to several variables at once.
  void assign(Range range, bool random) {
    const std::size_t sign = find_outside(range, [&](std::size_t k) { return tokens_[k] == "="; });
    if (sign == range.end) return;  // the call of a function for its effects, such as print()
    if (!random && !is_random(range)) return;
    const bool several = tokens_[range.begin] == "(";
    for (std::size_t at = range.begin; at < (several ? sign : range.begin + 1); ++at) {
      if (is_name(tokens_[at])) random_.insert(tokens_[at]);
    }
  }

  Tokens tokens_;
  Names random_;
  bool escapes_ = false;  ///< a break or continue that depends on chance was passed
};

}  // namespace

std::set<std::string> random_quantities(std::string_view program) {
  const Tokens block = block_of(tokens_of(program), {"generated", "quantities"});
  try {
    return Flow(block).find();
  } catch (const NotUnderstood&) {
    // Then every name may be random.
    Names all;
    for (const std::string& token : block) {
      if (is_name(token)) all.insert(token);
    }
    return all;
  }
}

}  // namespace rehmc::stan
