// Opens models, and stores them in run folders.
#include "open_model.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "models/registry.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/output/durable_file.hpp"
#include "stan/cache.hpp"
#include "stan/kept_library.hpp"
#include "stan/model.hpp"

namespace rehmc::cli {
namespace {

namespace files = std::filesystem;

void print_note(const std::string& text) { tell("rehmc: {}\n", text); }

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
  OpenedModel model{made.density, {made.name, made.identity}, data, made.program, made.density, ""};
  std::map<std::string, std::string>& made_by = model.identity.made_by;
  // No paths: whoever resumes the run decides which code to trust.
  if (made.program.empty()) {
    made_by["library"] = content_hash(read_file(file));
    model.library = file;
  } else {
    made_by["stan_backend"] = stan::describe(made.backend);
    if (!options.compile.cmdstan.empty()) made_by["cmdstan"] = "yes";
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
      .words({"auto", "interpret", "compile"})
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

std::map<std::string, std::string> stored_files(const OpenedModel& model, const RunFolder& folder) {
  std::map<std::string, std::string> hashes;
  if (!model.data.empty()) hashes[folder.data().filename().string()] = content_hash(model.data);
  if (!model.program.empty()) {
    hashes[folder.program().filename().string()] = content_hash(model.program);
  }
  return hashes;
}

void store_model(const OpenedModel& model, const RunFolder& folder) {
  if (!model.data.empty()) write_whole(folder.data(), model.data);
  if (!model.program.empty()) write_whole(folder.program(), model.program);
  if (model.library.empty()) return;
  try {
    stan::keep_library(model.library);
  } catch (const Error& error) {
    print_note(
        fmt::format("the library is not kept for resuming this run ({}); rehmc resume will "
                    "need --library FILE",
                    error.what()));
  }
}

void add_trusted_code(Command command, TrustedCode& code) {
  command
      .option("--library", code.library,
              "the shared library that was sampled, if it is no longer in the cache")
      .type_name("FILE");
  command
      .option("--cmdstan", code.cmdstan,
              "the CmdStan folder that compiled the program (default: $CMDSTAN)")
      .type_name("DIR");
}

namespace {

/// Opens the model of a run folder again.
class StoredModel {
 public:
  StoredModel(const Manifest& manifest, const RunFolder& folder, const TrustedCode& trusted)
      : manifest_(manifest), folder_(folder), trusted_(trusted) {
    if (files::exists(folder.data())) {
      data_file_ = folder.data().string();
      data_ = read_file(folder.data());
    }
  }

  OpenedModel open() const {
    require_unchanged(folder_.data());
    require_unchanged(folder_.program());
    if (made_by("library") != nullptr) return library();
    if (made_by("stan_backend") != nullptr) return program();
    BuiltModel built = make_model(manifest_.model.name, data_, data_file_);
    approve(built.identity);
    return {std::move(built.density), {built.name, built.identity}, data_, "", std::nullopt};
  }

 private:
  const std::string* made_by(const char* key) const {
    const auto found = manifest_.model.made_by.find(key);
    return found == manifest_.model.made_by.end() ? nullptr : &found->second;
  }

  /// The hash of the model would reveal it as well, but not which file it is.
  void require_unchanged(const files::path& path) const {
    const auto found = manifest_.files.find(path.filename().string());
    if (found == manifest_.files.end() || file_hash(path) == found->second) return;
    throw DataError(
        fmt::format("{}: was changed after rehmc wrote it: its checksum does not match; "
                    "the draws can still be read: rehmc summary {}",
                    path.string(), shell_word(folder_.path().string())));
  }

  void approve(const std::string& identity) const {
    if (identity == manifest_.model.hash) return;
    const bool compiled = made_by("stan_backend") != nullptr;
    throw DataError(fmt::format(
        "{}: the model {} is not the one that was sampled (its code, its data, {} or this file "
        "changed); start a new run. The draws can still be read: rehmc summary {}",
        folder_.manifest().string(), manifest_.model.name,
        compiled ? "Stan's toolchain" : "this rehmc", shell_word(folder_.draws(0).string())));
  }

  stan::ModelOptions options() const {
    stan::ModelOptions options;
    options.seed = static_cast<std::uint32_t>(manifest_.seed);
    options.approve = [this](const std::string& identity) { approve(identity); };
    options.note = print_note;
    return options;
  }

  OpenedModel library() const {
    const std::string& hash = *made_by("library");
    const files::path file =
        trusted_.library.empty() ? stan::kept_library(hash) : files::path(trusted_.library);
    if (file.empty()) {
      throw ConfigError(fmt::format(
          "{}: sampled the shared library {}, of which there is no copy in the cache of this user "
          "({}); libraries that a run folder names are never loaded. If you trust the library, "
          "name it: rehmc resume {} --library FILE",
          folder_.path().string(), manifest_.model.name, stan::cache_folder().string(),
          shell_word(folder_.path().string())));
    }
    return open_file(file, data_, data_file_, options());
  }

  OpenedModel program() const {
    stan::ModelOptions program = options();
    program.backend = stan::parse_backend(*made_by("stan_backend"));
    program.name = manifest_.model.name;
    program.stored = true;
    if (made_by("cmdstan") != nullptr) program.compile.cmdstan = cmdstan();
    return open_file(folder_.program(), data_, data_file_, program);
  }

  std::string cmdstan() const {
    if (!trusted_.cmdstan.empty()) return trusted_.cmdstan;
    const char* const usual = std::getenv("CMDSTAN");
    if (usual != nullptr && *usual != '\0') return usual;
    throw ConfigError(fmt::format(
        "{}: the program was compiled with a CmdStan folder; folders that a run folder names are "
        "never used. Name it: rehmc resume {} --cmdstan DIR",
        folder_.path().string(), shell_word(folder_.path().string())));
  }

  const Manifest& manifest_;
  const RunFolder& folder_;
  const TrustedCode& trusted_;
  std::string data_;
  std::string data_file_;
};

}  // namespace

OpenedModel stored_model(const Manifest& manifest, const RunFolder& folder,
                         const TrustedCode& trusted) {
  return StoredModel(manifest, folder, trusted).open();
}

}  // namespace rehmc::cli
