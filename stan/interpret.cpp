// Translates the program with the interpreter's library, and builds a density from it and the data.
#include "stan/interpret.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "rehmc/model/messages.hpp"
#include "stan/data.hpp"
#include "stan/plain_words.hpp"
#include "stan/toolchain.hpp"

namespace rehmc::stan {
namespace {

using Json = nlohmann::json;

std::filesystem::path library_file() {
  return need(Part::interpreter) / pin(Part::interpreter).needed.front();
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// stanc sees only the text; users know the program by its file.
std::string with_file_name(std::string message, const Program& program) {
  const std::string anonymous = "'string'";
  for (std::size_t at = message.find(anonymous); at != std::string::npos;
       at = message.find(anonymous, at + 1)) {
    message.replace(at, anonymous.size(), fmt::format("'{}'", program.file.string()));
  }
  return message;
}

/// The program, or another text in its place, in the interpreter's form.
std::string translate(const SharedLibrary& library, const Program& program,
                      const std::string& code) {
  using Translate = char*(const char* code, const char* const* folders, std::size_t count,
                          int fast_math, char* error, std::size_t error_size);
  auto* const translate = library.function<Translate>("stanli_stan_to_mir_with_opts");
  auto* const release = library.function<void(char*)>("stanli_string_free");
  if (translate == nullptr || release == nullptr) {
    throw ConfigError(
        fmt::format("{}: is not the interpreter that this rehmc needs; install it again: rehmc "
                    "stan install --interpreter",
                    library.path().string()));
  }
  std::vector<const char*> folders;
  for (const std::string& folder : program.include_paths) folders.push_back(folder.c_str());
  std::array<char, 65536> error{};
  char* const text =
      translate(code.c_str(), folders.data(), folders.size(), 0, error.data(), error.size());
  if (text == nullptr) {
    const std::string message = error.data();
    if (!contains(message, "rror in '")) throw Refusal(message);
    throw DataError(with_file_name(message, program));
  }
  std::string result = text;
  release(text);
  return result;
}

}  // namespace

BridgeDensity interpret(const Program& program, const std::string& data, std::uint32_t seed) {
  const SharedLibrary library(library_file());
  auto* const build = library.function<const char*()>("stanli_build_id");
  const auto messages = std::make_shared<ModelMessages>();
  const auto make = [&](const std::string& code) -> BridgeDensity {
    const Json manifest{{"mir", translate(library, program, code)},
                        {"build_id", build == nullptr ? "" : build()},
                        {"name", program.name}};
    const std::string given = data.empty() ? "{}" : data;
    return {library.path(), with_key(given, "__stanli", manifest.dump()), seed, messages};
  };
  try {
    BridgeDensity whole = make(program.code);
    // The interpreter computes generated quantities together with the others; recycled states do
    // not need them.
    const std::string rest = without_generated(program.whole);
    if (rest == program.whole) return whole;
    const MutedMessages muted(*messages);  // transformed data have already printed their lines
    BridgeDensity density = make(rest);
    density.generate_by(whole);
    return density;
  } catch (const DataError& error) {
    const std::string message = error.what();
    const bool refused = contains(message, "stanli compile") || contains(message, "unsupported");
    if (contains(message, "overflowing extent")) {
      throw DataError("the size of a variable is negative, or too large");
    }
    if (refused && !contains(message, "needs unknown int")) throw Refusal(message);
    throw DataError(plain_words(message));
  }
}

std::string interpreter_identity() {
  return fmt::format("interpreter {}", pin(Part::interpreter).sha256);
}

}  // namespace rehmc::stan
