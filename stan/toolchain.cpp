// Downloads, checks and unpacks the pinned wheels, and finds their contents.
#include "stan/toolchain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"
#include "stan/cache.hpp"
#include "stan/process.hpp"

namespace rehmc::stan {
namespace {

namespace files = std::filesystem;

/// Written last: if it exists, the folder is complete.
constexpr const char* stamp = "installed.json";

std::string command_for(Part part) {
  return fmt::format("rehmc stan install --{}", describe(part));
}

files::path folder_of(Part part) {
  return cache_folder() / fmt::format("{}-{}", describe(part), pin(part).version);
}

std::string sha256(const files::path& file) {
  const ProgramResult result = run_program({"sha256sum", file.string()});
  if (result.code != 0) throw NoInputError(fmt::format("sha256sum: {}", result.output));
  // The sum of a file whose name had to be escaped is preceded by a backslash.
  const std::size_t start = result.output.starts_with('\\') ? 1 : 0;
  return result.output.substr(start, 64);
}

void check_machine() {
#if !(defined(__x86_64__) && defined(__linux__))
  throw ConfigError(
      "Stan's toolchains are only available for Linux on x86-64; on this machine use a library "
      "built by BridgeStan (rehmc sample model.so), or a CmdStan folder (--cmdstan DIR)");
#endif
}

std::string python() {
  std::string found = find_program("python3");
  if (found.empty()) {
    throw ConfigError(
        "there is no python3, whose pip downloads Stan's toolchains; install it (Debian: apt-get "
        "install python3 python3-pip), or give the wheel as a file: rehmc stan install --from "
        "WHEEL");
  }
  return found;
}

/// Downloads the wheel into this folder with pip.
files::path fetch(Part part, const files::path& folder) {
  const Pin& wanted = pin(part);
  std::vector<std::string> words{
      python(),    "-m",     "pip",           "--disable-pip-version-check", "download",
      "--no-deps", "--dest", folder.string(), "--only-binary=:all:"};
  words.insert(words.end(), wanted.platform.begin(), wanted.platform.end());
  const std::string package = fmt::format("{}=={}", wanted.package, wanted.version);
  words.push_back(package);
  const ProgramResult result = run_program(words, folder);
  const bool no_pip = result.output.find("No module named pip") != std::string::npos;
  if (no_pip) {
    throw ConfigError(
        "python3 has no pip, which downloads Stan's toolchains; install it (Debian: apt-get "
        "install "
        "python3-pip), or give the wheel as a file: rehmc stan install --from WHEEL");
  }
  if (result.code != 0) {
    throw NoInputError(
        fmt::format("pip could not download {} ({}):\n{}\nCheck the network connection. To install "
                    "from a wheel file: rehmc stan install --from WHEEL",
                    package, describe(part), result.output));
  }
  for (const auto& entry : files::directory_iterator(folder)) {
    if (entry.path().extension() == ".whl") return entry.path();
  }
  throw NoInputError(fmt::format("pip downloaded no wheel of {}:\n{}", package, result.output));
}

void unpack(Part part, const files::path& wheel, const files::path& folder) {
  const std::string sum = sha256(wheel);
  const Pin& wanted = pin(part);
  if (sum != wanted.sha256) {
    throw DataError(
        fmt::format("{}: is not the wheel of {} {} that rehmc was tested with: its sha256 is {}, "
                    "expected {}",
                    wheel.string(), wanted.package, wanted.version, sum, wanted.sha256));
  }
  const ProgramResult result = run_program(
      {python(), "-m", "zipfile", "--extract", wheel.string(), folder.string()}, folder);
  if (result.code != 0) {
    throw FileError(fmt::format("cannot unpack {} into {}:\n{}", wheel.string(), folder.string(),
                                result.output));
  }
}

/// The files of a part that are missing from its folder.
std::string missing_files(Part part, const files::path& folder) {
  std::vector<std::string> missing;
  for (const std::string& file : pin(part).needed) {
    std::error_code error;
    if (!files::exists(folder / file, error)) missing.push_back(file);
  }
  return fmt::format("{}", fmt::join(missing, ", "));
}

/// The first folder in here whose name starts like this; empty if there is none.
files::path beginning(const files::path& folder, const std::string& start) {
  std::vector<files::path> found;
  std::error_code error;
  for (const auto& entry : files::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(start)) found.push_back(entry.path());
  }
  return found.empty() ? files::path() : *std::min_element(found.begin(), found.end());
}

Compiler installed_compiler() {
  const files::path root = need(Part::compiler) / "httpstan";
  const std::string libraries = (root / "lib").string();
  Compiler compiler;
  compiler.stanc = root / "stanc";
  compiler.includes = {"-isystem", (root / "include").string()};
  for (const char* name : {"cvodes", "idas", "kinsol", "nvecserial"}) {
    compiler.libraries.push_back(fmt::format("{}/libsundials_{}.a", libraries, name));
  }
  compiler.libraries.insert(compiler.libraries.end(),
                            {"-L" + libraries, "-ltbb", "-Wl,-rpath," + libraries});
  compiler.identity = fmt::format("{} {} {}", pin(Part::compiler).package,
                                  pin(Part::compiler).version, pin(Part::compiler).sha256);
  return compiler;
}

/// The folder that $CMDSTAN names; empty if it names none.
files::path usual_cmdstan() {
  const char* const variable = std::getenv("CMDSTAN");
  return variable == nullptr ? "" : variable;
}

Compiler cmdstan_compiler(const files::path& given) {
  const files::path root = files::absolute(given);
  const files::path math = root / "stan" / "lib" / "stan_math";
  const files::path parts = math / "lib";
  const files::path sundials = beginning(parts, "sundials_");
  const files::path tbb = parts / "tbb";
  Compiler compiler;
  compiler.stanc = root / "bin" / "stanc";
  const std::vector<files::path> folders{root / "stan" / "src",
                                         math,
                                         beginning(root / "stan" / "lib", "rapidjson_"),
                                         beginning(parts, "eigen_"),
                                         beginning(parts, "boost_"),
                                         sundials / "include",
                                         sundials / "src" / "sundials",
                                         beginning(parts, "tbb_") / "include"};
  const auto require = [&](const files::path& path, const char* what) {
    if (!files::exists(path)) {
      throw ConfigError(
          fmt::format("{}: is not a built CmdStan folder: it has no {}; give the folder that holds "
                      "bin/stanc, or run `make build` in it",
                      given.string(), what));
    }
  };
  require(compiler.stanc, "bin/stanc");
  require(math / "stan", "stan/lib/stan_math");
  require(tbb, "stan/lib/stan_math/lib/tbb");
  for (const files::path& folder : folders) {
    if (!files::exists(folder)) continue;  // not every version has all of them
    compiler.includes.insert(compiler.includes.end(), {"-isystem", folder.string()});
  }
  for (const char* name : {"cvodes", "idas", "kinsol", "nvecserial"}) {
    const files::path library = sundials / "lib" / fmt::format("libsundials_{}.a", name);
    if (files::exists(library)) compiler.libraries.push_back(library.string());
  }
  compiler.libraries.insert(compiler.libraries.end(),
                            {"-L" + tbb.string(), "-ltbb", "-Wl,-rpath," + tbb.string()});
  const ProgramResult version = run_program({compiler.stanc.string(), "--version"});
  compiler.identity = fmt::format("{} {}", root.string(), version.output);
  return compiler;
}

}  // namespace

const Pin& pin(Part part) {
  static const Pin interpreter{"stanli",
                               "0.24.0",
                               "f0af1f0224b43279bc684babc195b8577bfae095ac2034873eb15bc30fad151b",
                               {"--platform", "manylinux_2_28_x86_64"},
                               {"stanli/_bin/libstanli.so"}};
  // Of the wheel only headers, libraries and stanc are used: any version of Python will do.
  static const Pin compiler{
      "httpstan",
      "4.17.0",
      "b05349967ad19a6970d4392732653b8ad98839cb3cb7a7e8a493ae70a264988e",
      {"--python-version", "3.13", "--implementation", "cp", "--abi", "cp313", "--platform",
       "manylinux2014_x86_64"},
      {"httpstan/stanc", "httpstan/include/stan", "httpstan/include/Eigen",
       "httpstan/include/boost", "httpstan/lib/libtbb.so", "httpstan/lib/libsundials_cvodes.a"}};
  return part == Part::interpreter ? interpreter : compiler;
}

std::string_view describe(Part part) {
  return part == Part::interpreter ? "interpreter" : "compiler";
}

PartStatus status(Part part) {
  PartStatus result{folder_of(part), false, ""};
  std::error_code error;
  if (!files::exists(result.folder, error)) {
    result.problem = "not installed";
    return result;
  }
  const std::string missing = missing_files(part, result.folder);
  if (!missing.empty()) {
    result.problem = "damaged: there is no " + missing;
  } else if (!files::exists(result.folder / stamp, error)) {
    result.problem = fmt::format("damaged: there is no {}", stamp);
  } else {
    result.installed = true;
  }
  return result;
}

files::path need(Part part) {
  const PartStatus found = status(part);
  if (found.installed) return found.folder;
  throw ConfigError(fmt::format("Stan's {} is {} ({}); install it with: {}", describe(part),
                                found.problem, found.folder.string(), command_for(part)));
}

Part part_of(const files::path& wheel) {
  if (!files::is_regular_file(wheel)) {
    throw NoInputError(fmt::format("{}: there is no such file", wheel.string()));
  }
  const std::string sum = sha256(wheel);
  for (const Part part : {Part::interpreter, Part::compiler}) {
    if (sum == pin(part).sha256) return part;
  }
  throw DataError(
      fmt::format("{}: is not one of the wheels that rehmc was tested with ({} {}, sha256 {}; {} "
                  "{}, sha256 {}); "
                  "its sha256 is {}",
                  wheel.string(), pin(Part::interpreter).package, pin(Part::interpreter).version,
                  pin(Part::interpreter).sha256, pin(Part::compiler).package,
                  pin(Part::compiler).version, pin(Part::compiler).sha256, sum));
}

void install(Part part, const files::path& wheel) {
  check_machine();
  const auto fill = [&](const files::path& folder) {
    const files::path downloads = folder / "download";
    files::create_directory(downloads);
    unpack(part, wheel.empty() ? fetch(part, downloads) : files::absolute(wheel), folder);
    files::remove_all(downloads);
    const std::string missing = missing_files(part, folder);
    if (!missing.empty()) {
      throw DataError(fmt::format("the wheel of {} has no {}", pin(part).package, missing));
    }
    if (part == Part::compiler) {  // zip files may not store permissions
      files::permissions(
          folder / "httpstan" / "stanc",
          files::perms::owner_exec | files::perms::group_exec | files::perms::others_exec,
          files::perm_options::add);
    }
    const nlohmann::ordered_json contents{{"package", pin(part).package},
                                          {"version", pin(part).version},
                                          {"sha256", pin(part).sha256}};
    write_whole(folder / stamp, contents.dump(2) + "\n");
  };
  make_cached(
      folder_of(part), [&](const files::path&) { return status(part).installed; }, fill);
}

bool has_compiler() { return status(Part::compiler).installed || !usual_cmdstan().empty(); }

Compiler find_compiler(const files::path& cmdstan) {
  if (!cmdstan.empty()) return cmdstan_compiler(cmdstan);
  const files::path usual = usual_cmdstan();
  if (!usual.empty() && !status(Part::compiler).installed) return cmdstan_compiler(usual);
  return installed_compiler();
}

}  // namespace rehmc::stan
