// Chooses how to run a model from a file, and builds its density.
#include "stan/model.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/core/stan_name.hpp"
#include "rehmc/core/suggest.hpp"
#include "stan/data.hpp"
#include "stan/interpret.hpp"
#include "stan/plain_words.hpp"
#include "stan/random_quantities.hpp"
#include "stan/start_check.hpp"
#include "stan/toolchain.hpp"

namespace rehmc::stan {
namespace {

namespace files = std::filesystem;

struct Data {
  std::string text;  ///< strict JSON, or empty
  std::string file;
};

/// Names the model, its data and the model's message.
DataError data_error(const files::path& model, const Data& data, const std::string& message) {
  if (data.file.empty()) {
    return DataError(
        fmt::format("{}: needs data: {}; give them with --data FILE", model.string(), message));
  }
  return DataError(fmt::format("the data in {} do not match the model {}: {}", data.file,
                               model.string(), message));
}

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

/// Syntax errors already name the program.
bool is_of_stanc(const std::string& message) {
  return message.find("rror in '") != std::string::npos;
}

template <class Make>
BridgeDensity with_names(const files::path& file, const Data& data, const Make& make) {
  try {
    return make();
  } catch (const DataError& error) {
    const std::string message = error.what();
    if (is_of_stanc(message) || message.starts_with(file.string())) throw;
    throw data_error(file, data, plain_words(message));
  }
}

void check_parameters(const BridgeDensity& density, const files::path& file) {
  if (density.dimension() > 0) return;
  throw ModelError(fmt::format(
      "{}: has no parameters, so there is nothing to sample; rehmc draws generated quantities only "
      "together with parameters (CmdStan's fixed_param does so without)",
      file.string()));
}

BridgeDensity interpreted(const Program& program, const Data& data, const ModelOptions& options) {
  BridgeDensity density = interpret(program, data.text, options.seed);
  check_parameters(density, program.file);
  check_interpreter(density, program.file.string(), data.file, options.note);
  return density;
}

BridgeDensity compiled(const Program& program, const Data& data, const ModelOptions& options) {
  BridgeDensity density(compile(program, options.compile, options.note), data.text, options.seed);
  check_parameters(density, program.file);
  return density;
}

bool wants_compiler(const CompileOptions& options) {
  return options.native || !options.cmdstan.empty();
}

/// A hash of everything that a program and its gradients depend on.
std::string program_identity(const Program& program, Backend backend, const Data& data,
                             const ModelOptions& options) {
  const std::string toolchain =
      backend == Backend::interpret ? interpreter_identity() : compiler_identity(options.compile);
  return content_hash(fmt::format("stan program {}\n{}\n{}\n{}", program.name, toolchain,
                                  program.whole, data.text));
}

void mark_determined(BridgeDensity& density, const Program& program) {
  const std::set<std::string> random = random_quantities(program.whole);
  std::set<std::string> determined;
  for (const Quantity& quantity : density.quantities()) {
    if (quantity.generated && !random.contains(csv_variable(quantity.name))) {
      determined.insert(quantity.name);
    }
  }
  density.mark_determined(std::move(determined));
}

FileModel make_program(const files::path& file, const Data& data, const ModelOptions& options) {
  Program program =
      options.stored ? read_stored_program(file) : read_program(file, options.include_paths);
  if (!options.name.empty()) program.name = options.name;
  Backend backend = options.backend;
  if (backend == Backend::automatic && wants_compiler(options.compile)) backend = Backend::compile;
  // If only the compiler is installed, it can also run all programs.
  if (backend == Backend::automatic && !status(Part::interpreter).installed && has_compiler()) {
    backend = Backend::compile;
  }
  if (backend != Backend::automatic) {
    options.approve(program_identity(program, backend, data, options));
  }
  const auto make = [&]() -> BridgeDensity {
    if (backend == Backend::compile) return compiled(program, data, options);
    try {
      BridgeDensity density = interpreted(program, data, options);
      backend = Backend::interpret;
      return density;
    } catch (const Refusal& refusal) {
      if (backend == Backend::interpret) {
        throw ModelError(
            fmt::format("{}: the interpreter does not support everything that this program "
                        "uses{}; compile it: --stan-backend compile",
                        file.string(), in_brackets(plain_refusal(refusal.what()))));
      }
      options.note(
          fmt::format("{}: the interpreter does not support everything that this program uses{}",
                      file.string(), in_brackets(plain_refusal(refusal.what()))));
      backend = Backend::compile;
      return compiled(program, data, options);
    }
  };
  BridgeDensity density = with_names(file, data, make);
  mark_determined(density, program);
  return {std::move(density), program.name, program_identity(program, backend, data, options),
          program.whole, backend};
}

FileModel make_library(const files::path& file, const Data& data, const ModelOptions& options) {
  const std::string identity =
      content_hash(fmt::format("library {}\n{}", content_hash(read_file(file)), data.text));
  options.approve(identity);
  BridgeDensity density =
      with_names(file, data, [&] { return BridgeDensity(file, data.text, options.seed); });
  check_parameters(density, file);
  if (density.takes_turns()) {
    options.note(fmt::format(
        "{}: was compiled without STAN_THREADS, so its chains must take turns; compile it "
        "with STAN_THREADS=true, or with `rehmc compile`, to run them at the same time",
        file.string()));
  }
  return {std::move(density), file.stem().string(), identity, "", Backend::automatic};
}

}  // namespace

Backend parse_backend(const std::string& name) {
  std::vector<std::string> names;
  for (const Backend backend : {Backend::automatic, Backend::interpret, Backend::compile}) {
    if (name == describe(backend)) return backend;
    names.emplace_back(describe(backend));
  }
  throw ConfigError(fmt::format("--stan-backend: found '{}', expected auto, interpret or compile{}",
                                name, did_you_mean(name, names)));
}

std::string_view describe(Backend backend) {
  switch (backend) {
    case Backend::interpret:
      return "interpret";
    case Backend::compile:
      return "compile";
    case Backend::automatic:
      break;
  }
  return "auto";
}

bool is_model_file(const std::string& name) {
  return name.ends_with(".stan") || name.ends_with(".so");
}

FileModel make_file_model(const files::path& file, const std::string& data,
                          const std::string& data_file, const ModelOptions& options) {
  if (!files::exists(file)) {
    throw NoInputError(fmt::format("{}: there is no such file", file.string()));
  }
  const std::string name = file.stem().string();
  if (name != visible(name)) {
    throw DataError(fmt::format(
        "{}: the name of this file must be UTF-8 without control characters, because it is the "
        "name of the model",
        file.string()));
  }
  const Data strict{data_file.empty() ? "" : strict_json(data, data_file), data_file};
  return file.extension() == ".so" ? make_library(file, strict, options)
                                   : make_program(file, strict, options);
}

}  // namespace rehmc::stan
