// Opens models, and stores them in run folders.
#include "open_model.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "models/registry.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"
#include "stan/model.hpp"

namespace rehmc::cli {
namespace {

namespace files = std::filesystem;

void print_note(const std::string& text) { fmt::print(stderr, "rehmc: {}\n", text); }

stan::ModelOptions model_options(const ModelChoice& choice, std::uint64_t seed) {
  stan::ModelOptions options;
  options.backend = stan::parse_backend(choice.backend);
  options.include_paths = choice.include_paths;
  options.compile.cmdstan = choice.cmdstan;
  options.seed = static_cast<std::uint32_t>(seed);
  if (!choice.quiet) options.note = print_note;
  return options;
}

OpenedModel open_file(const files::path& file, const std::string& data,
                      const std::string& data_file, const stan::ModelOptions& options) {
  stan::FileModel made = stan::make_file_model(file, data, data_file, options);
  OpenedModel model{made.density, {made.name, made.identity}, data, made.program, made.density};
  std::map<std::string, std::string>& made_by = model.identity.made_by;
  if (made.program.empty()) {
    made_by["library"] = files::absolute(file).string();
  } else {
    made_by["stan_backend"] = stan::describe(made.backend);
    if (!options.compile.cmdstan.empty()) {
      made_by["cmdstan"] = files::absolute(options.compile.cmdstan).string();
    }
  }
  return model;
}

}  // namespace

void add_model_options(Command command, ModelChoice& choice) {
  command
      .option("MODEL", choice.model,
              "a built-in model (rehmc models lists them), a Stan program FILE.stan, or a "
              "library FILE.so")
      .required();
  command.option("--data", choice.data, "JSON file with the model's data").type_name("FILE");
  command
      .option("--stan-backend", choice.backend,
              "how to run a Stan program: auto, interpret or compile")
      .show_default()
      .group("Stan programs");
  command
      .option("--include-path", choice.include_paths,
              "folder to search for files that a Stan program includes")
      .type_name("DIR")
      .repeatable()
      .group("Stan programs");
  command
      .option("--cmdstan", choice.cmdstan,
              "compile with the Stan of this CmdStan folder (default: $CMDSTAN, if the compiler "
              "is not installed)")
      .type_name("DIR")
      .group("Stan programs");
}

OpenedModel open_model(const ModelChoice& choice, std::uint64_t seed) {
  const std::string data = choice.data.empty() ? "" : read_file(choice.data);
  if (stan::is_model_file(choice.model)) {
    return open_file(choice.model, data, choice.data, model_options(choice, seed));
  }
  if (files::exists(choice.model) && choice.model.find_first_of("./") != std::string::npos) {
    throw ConfigError(fmt::format(
        "{}: is neither a Stan program (.stan) nor a library (.so), judging by its name",
        choice.model));
  }
  BuiltModel built = make_model(choice.model, data, choice.data);
  return {std::move(built.density), {built.name, built.identity}, data, "", std::nullopt};
}

void store_model(const OpenedModel& model, const RunFolder& folder) {
  if (!model.data.empty()) write_whole(folder.data(), model.data);
  if (!model.program.empty()) write_whole(folder.program(), model.program);
}

OpenedModel stored_model(const Manifest& manifest, const RunFolder& folder) {
  const bool has_data = files::exists(folder.data());
  const std::string data = has_data ? read_file(folder.data()) : "";
  const std::string data_file = has_data ? folder.data().string() : "";
  const std::map<std::string, std::string>& made_by = manifest.model.made_by;
  const auto word = [&](const char* key) {
    const auto found = made_by.find(key);
    return found == made_by.end() ? std::string() : found->second;
  };
  const auto again = [&]() -> OpenedModel {
    stan::ModelOptions options;
    options.seed = static_cast<std::uint32_t>(manifest.seed);
    options.compile.cmdstan = word("cmdstan");
    if (made_by.contains("library")) return open_file(word("library"), data, data_file, options);
    if (made_by.contains("stan_backend")) {
      options.backend = stan::parse_backend(word("stan_backend"));
      options.note = print_note;
      options.name = manifest.model.name;
      return open_file(folder.program(), data, data_file, options);
    }
    BuiltModel built = make_model(manifest.model.name, data, data_file);
    return {std::move(built.density), {built.name, built.identity}, data, "", std::nullopt};
  };
  OpenedModel model = again();
  if (model.identity.hash != manifest.model.hash) {
    throw DataError(
        fmt::format("{}: the model {} is not the one that was sampled (its code, its data or {} "
                    "changed); start "
                    "a new run",
                    folder.path().string(), manifest.model.name,
                    made_by.contains("stan_backend") ? "Stan's toolchain" : "this rehmc"));
  }
  return model;
}

}  // namespace rehmc::cli
