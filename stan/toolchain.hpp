// What runs Stan programs, the interpreter and the compiler, and how it is installed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rehmc::stan {

enum class Part { interpreter, compiler };

/// A wheel of the Python package index, and the files that it must contain.
struct Pin {
  std::string_view package;
  std::string_view version;
  std::string_view sha256;
  std::vector<std::string> platform;  ///< arguments for pip
  std::vector<std::string> needed;    ///< files that must be there once it is unpacked
};
const Pin& pin(Part part);
std::string_view describe(Part part);

/// Whether a part is installed, and if not, why not.
struct PartStatus {
  std::filesystem::path folder;
  bool installed = false;
  std::string problem;  ///< "not installed", or what is damaged
};
PartStatus status(Part part);

/// The folder of an installed part; ConfigError with the command that installs it otherwise.
std::filesystem::path need(Part part);

/// Unpacks the pinned wheel, from pip or from this file, into the cache. DataError if its contents
/// are not those that were pinned; errors of pip include its own message.
void install(Part part, const std::filesystem::path& wheel = {});

/// The part whose wheel this file is, by its checksum. DataError if it is none of them.
Part part_of(const std::filesystem::path& wheel);

/// The parts of a CmdStan folder, or of the installed compiler, that compile Stan programs.
struct Compiler {
  std::filesystem::path stanc;
  std::vector<std::string> includes;   ///< arguments for the C++ compiler
  std::vector<std::string> libraries;  ///< arguments for linking
  std::string identity;                ///< identifies the toolchain
};
/// Whether Stan programs can be compiled without a CmdStan folder being named.
bool has_compiler();
/// Without a folder: the installed compiler, or else the CmdStan that $CMDSTAN names. ConfigError
/// if nothing is installed, or if the folder is not a built CmdStan.
Compiler find_compiler(const std::filesystem::path& cmdstan);

}  // namespace rehmc::stan
