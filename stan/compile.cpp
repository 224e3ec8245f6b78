// Runs stanc and the C++ compiler.
#include "stan/compile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/output/durable_file.hpp"
#include "stan/cache.hpp"
#include "stan/library_source.hpp"
#include "stan/process.hpp"
#include "stan/toolchain.hpp"

namespace rehmc::stan {
namespace {

namespace files = std::filesystem;

constexpr const char* header_name = "model_header.hpp";
constexpr std::size_t most_lines = 30;

/// Each flag has its reason next to it. All flags are part of a library's key in the cache.
std::vector<std::string> flags(const CompileOptions& options) {
  std::vector<std::string> words{
      "-std=c++17",
      "-fPIC",
      "-w",  // users cannot fix warnings in Stan's headers
      "-fvisibility=hidden",
      "-fno-gnu-unique",           // so that two libraries never share a variable
      "-DSTAN_THREADS",            // chains run in threads
      "-ftls-model=initial-exec",  // recovers most of the cost of threads
      "-D_REENTRANT",
      "-DBOOST_DISABLE_ASSERTS",
      "-DBOOST_PHOENIX_NO_VARIADIC_EXPRESSION"};
  if (options.native) {
    words.insert(words.end(), {"-O3", "-march=native"});
  } else {
    words.emplace_back("-O1");
  }
  return words;
}

std::string cxx_compiler() {
  const char* const chosen = std::getenv("CXX");
  for (const std::string& name : {std::string(chosen == nullptr ? "" : chosen), std::string("g++"),
                                  std::string("c++"), std::string("clang++")}) {
    std::string found = name.empty() ? "" : find_program(name);
    if (!found.empty()) return found;
  }
  throw ConfigError(
      "compiling a Stan program needs a C++ compiler, but none was found (looked for $CXX, g++, "
      "c++ "
      "and clang++); install one (Debian: apt-get install g++), or interpret the program: "
      "--stan-backend interpret");
}

std::string first_lines(const std::string& text) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < most_lines && end != std::string::npos; ++line) {
    end = text.find('\n', end + 1);
  }
  return end == std::string::npos ? text : text.substr(0, end) + "\n...";
}

/// A program's name with letters and digits only: a manifest may contain any.
std::string safe_name(const Program& program) {
  std::string name = program.name;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

/// The name of the class that stanc writes.
std::string class_name(const Program& program) { return safe_name(program) + "_model"; }

void run_stanc(const Program& program, const Compiler& compiler, const files::path& output) {
  std::vector<std::string> words{compiler.stanc.string(), "--name=" + class_name(program),
                                 "--o=" + output.string(),
                                 "--filename-in-msg=" + program.file.string()};
  if (!program.include_paths.empty()) {
    words.push_back(fmt::format("--include-paths={}", fmt::join(program.include_paths, ",")));
  }
  words.push_back(program.file.string());
  const ProgramResult result = run_program(words);
  if (result.code != 0) throw DataError(result.output);
}

/// The C++ compiler with everything that a program and the functions around it need.
class Builder {
 public:
  Builder(const Compiler& compiler, const CompileOptions& options, std::string program)
      : compiler_(compiler),
        cxx_(cxx_compiler()),
        flags_(flags(options)),
        program_(std::move(program)) {}

  /// `more` are arguments for this source alone.
  void compile(const files::path& source, const files::path& object,
               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{cxx_};
    words.insert(words.end(), flags_.begin(), flags_.end());
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), compiler_.includes.begin(), compiler_.includes.end());
    words.insert(words.end(), {"-c", "-o", object.string(), source.string()});
    run(words);
  }

  std::string all_flags() const { return fmt::format("{}", fmt::join(flags_, " ")); }

  void link(const std::vector<std::string>& objects, const files::path& library) const {
    std::vector<std::string> words{cxx_, "-shared", "-o", library.string()};
    words.insert(words.end(), objects.begin(), objects.end());
    words.insert(words.end(), compiler_.libraries.begin(), compiler_.libraries.end());
    run(words);
  }

 private:
  void run(const std::vector<std::string>& words) const {
    const ProgramResult result = run_program(words);
    if (result.code == 0) return;
    throw ModelError(fmt::format("{}: the C++ compiler failed (exit code {}):\n{}", program_,
                                 result.code, first_lines(result.output)));
  }

  const Compiler& compiler_;
  std::string cxx_;
  std::vector<std::string> flags_;
  std::string program_;
};

/// Whether a folder of the cache has its file.
auto has(const files::path& name) {
  return [name](const files::path& folder) { return files::exists(folder / name); };
}

/// The functions around a program: the same for all, so compiled once, to this file.
files::path bridge_object(const std::string& identity) {
  return cache_folder() / "programs" / ("functions-" + content_hash(identity)) / "bridge_library.o";
}

void make_bridge_object(const Builder& builder, const files::path& object) {
  const auto fill = [&](const files::path& folder) {
    const files::path source = folder / "bridge_library.cpp";
    write_whole(source, rehmc::library_source::bridge_library_cpp);
    builder.compile(source, folder / object.filename(),
                    {fmt::format("-DREHMC_STAN_FLAGS=\"{}\"", builder.all_flags())});
  };
  make_cached(object.parent_path(), has(object.filename()), fill);
}

/// How long the last program took on this machine, with this compiler; none if it is the first.
class LastTime {
 public:
  explicit LastTime(const std::string& identity)
      : file_(cache_folder() / "programs" / ("seconds-" + content_hash(identity))) {}

  std::optional<long> seconds() const {
    if (!files::exists(file_)) return std::nullopt;
    const long seconds = std::strtol(read_file(file_).c_str(), nullptr, 10);
    return seconds > 0 ? std::optional(seconds) : std::nullopt;
  }
  void store(double seconds) const { write_whole(file_, std::to_string(std::lround(seconds))); }

 private:
  files::path file_;
};

/// Says now and then that a compilation goes on.
class Heartbeat {
 public:
  Heartbeat(const std::function<void(const std::string&)>& note, std::string what)
      : thread_([this, &note, what = std::move(what)](const std::stop_token& stop) {
          constexpr std::chrono::seconds every(10);
          std::unique_lock lock(mutex_);
          for (auto passed = every; !wake_.wait_for(lock, stop, every, [] { return false; });
               passed += every) {
            if (stop.stop_requested()) return;
            note(fmt::format("still compiling {}: {} s", what, passed.count()));
          }
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // the last member: it ends before the others do
};

files::path header_folder(const std::string& identity) {
  return cache_folder() / "programs" / ("header-" + content_hash(identity));
}

files::path compiled_form(const files::path& header) { return header.string() + ".gch"; }

/// g++ finds the header's compiled form next to it, and ignores it if it does not match.
std::vector<std::string> header_words(const CompileOptions& options) {
  const files::path folder = precompiled_header(options);
  if (folder.empty()) return {};
  return {"-include", (folder / header_name).string()};
}

}  // namespace

std::string compiler_identity(const CompileOptions& options) {
  const std::string cxx = cxx_compiler();
  return fmt::format("compiler {}\n{}\n{}\n{}\n{}", find_compiler(options.cmdstan).identity, cxx,
                     run_program({cxx, "--version"}).output, fmt::join(flags(options), " "),
                     content_hash(rehmc::library_source::bridge_library_cpp));
}

void precompile_header(const CompileOptions& options) {
  const std::string cxx = cxx_compiler();
  if (run_program({cxx, "--version"}).output.find("clang") != std::string::npos) {
    throw ConfigError(
        fmt::format("a precompiled header needs g++, but the C++ compiler is {}; set the "
                    "environment variable CXX to g++, or do without",
                    cxx));
  }
  const Compiler compiler = find_compiler(options.cmdstan);
  const Builder builder(compiler, options, "Stan's headers");
  const files::path target = header_folder(compiler_identity(options));
  const auto fill = [&](const files::path& folder) {
    const files::path header = folder / header_name;
    write_whole(header, "#include <stan/model/model_header.hpp>\n");
    builder.compile(header, compiled_form(header), {"-x", "c++-header"});
  };
  make_cached(target, has(compiled_form(header_name)), fill);
}

files::path precompiled_header(const CompileOptions& options) {
  files::path folder = header_folder(compiler_identity(options));
  return files::exists(compiled_form(folder / header_name)) ? folder : files::path();
}

files::path compile(const Program& program, const CompileOptions& options,
                    const std::function<void(const std::string&)>& note) {
  const Compiler compiler = find_compiler(options.cmdstan);
  const std::string identity = compiler_identity(options);
  const Builder builder(compiler, options, program.file.string());
  const std::string key =
      content_hash(fmt::format("{}\n{}\n{}", program.name, program.whole, identity));
  const files::path target =
      cache_folder() / "programs" / fmt::format("{}-{}", safe_name(program), key);
  files::path library = target / library_name;
  const auto fill = [&](const files::path& folder) {
    const files::path translated = folder / "program.cpp";
    run_stanc(program, compiler, translated);
    const files::path functions = bridge_object(identity);
    const std::vector<std::string> header = header_words(options);
    const LastTime last(identity);
    const auto begin = std::chrono::steady_clock::now();
    const bool first = !files::exists(functions);
    note(fmt::format("compiling {}, once: {}", program.file.string(),
                     first            ? std::string("the first program often takes a minute or two")
                     : last.seconds() ? fmt::format("the last program took {} s", *last.seconds())
                                      : std::string("often half a minute")));
    const Heartbeat heartbeat(note, program.file.string());
    make_bridge_object(builder, functions);
    builder.compile(translated, folder / "program.o", header);
    builder.link({(folder / "program.o").string(), functions.string()}, folder / library_name);
    files::remove(folder / "program.o");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (!first) last.store(took.count());
  };
  make_cached(target, has(library_name), fill);
  return library;
}

}  // namespace rehmc::stan
