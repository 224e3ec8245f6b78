// Rewrites messages by their known forms.
#include "stan/plain_words.hpp"

#include <array>
#include <cstddef>
#include <regex>
#include <string_view>
#include <utility>

namespace rehmc::stan {
namespace {

/// In the order in which they are tried; all that match are applied.
const std::array<std::pair<const char*, const char*>, 14> forms{{
    {R"(^model_construct\(\) failed: )", ""},
    {R"(log_density(_gradient)?\(\) failed: )", ""},
    {R"(^Exception: )", ""},
    {R"(\w+_model_namespace::\w+: )", ""},
    {R"(^(stanli [a-zA-Z_ ]+: )+)", ""},
    {R"(^mismatch in number dimensions declared.*variable name=([^;]+);.*dims declared=\(([^)]*)\); dims found=\(\))",
     "$1 is missing, or a single number, but the program declares the dimensions ($2)"},
    {R"(^mismatch in number dimensions declared.*variable name=([^;]+);.*dims declared=\(([^)]*)\); dims found=\(([^)]*)\))",
     "$1 has the dimensions ($3), but the program declares ($2)"},
    {R"(^mismatch in dimension declared.*variable name=([^;]+);.*dims declared=\(([^)]*)\); dims found=\(([^)]*)\))",
     "$1 has the dimensions ($3), but the program declares ($2)"},
    {R"(^variable does not exist;.*variable name=([^;]+).*)",
     "there is no value for the variable $1"},
    {R"(^unknown data variable (\w+).*)", "there is no value for the variable $1"},
    {R"(^.*needs unknown int (\w+).*)", "there is no value for the variable $1"},
    {R"(^Variable: ([^,]+), error: (.*)$)", "$1: $2"},
    {R"(^int variable contained non-int values;.*variable name=([^;]+).*)",
     "$1 must be a whole number, or hold whole numbers"},
    {R"((\d)\.0{4,}\b)", "$1"},
}};

/// Names of the interpreter for what users write, and the words for it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> features{
    {{"STuple", "tuples"},
     {"SComplex", "complex numbers"},
     {"complex", "complex numbers"},
     {"hmm_", "hidden Markov models"},
     {"jacobian", "jacobian +="},
     {"ODE", "differential equations of this kind"}}};

}  // namespace

std::string plain_words(std::string message) {
  for (const auto& [form, words] : forms) {
    message = std::regex_replace(message, std::regex(form), words);
  }
  return message;
}

std::string plain_refusal(std::string message) {
  for (const auto& [mark, words] : features) {
    if (message.find(mark) != std::string::npos) return std::string(words);
  }
  static const std::regex function(
      R"(unsupported (?:int size )?(?:function|statement function) (\w+))");
  std::smatch found;
  if (std::regex_search(message, found, function)) return found[1].str();
  return "";
}

}  // namespace rehmc::stan
