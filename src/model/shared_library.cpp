// Checks shared libraries before loading them: the system loader's messages are hard to read.
#include "rehmc/model/shared_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "rehmc/core/error.hpp"

namespace rehmc {
namespace {

/// What kind of machine code a file holds.
struct MachineCode {
  unsigned char width;  ///< ELFCLASS32 or ELFCLASS64
  unsigned char order;  ///< ELFDATA2LSB or ELFDATA2MSB
  std::uint16_t machine;
  bool operator==(const MachineCode&) const = default;
};

/// Nothing if the file does not begin like a program or a library.
std::optional<MachineCode> machine_code(const std::filesystem::path& path) {
  // These fields have the same offsets in both widths.
  std::array<char, sizeof(Elf32_Ehdr)> bytes{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), bytes.size())) return std::nullopt;
  if (std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) return std::nullopt;
  MachineCode code{};
  code.width = static_cast<unsigned char>(bytes[EI_CLASS]);
  code.order = static_cast<unsigned char>(bytes[EI_DATA]);
  std::memcpy(&code.machine, bytes.data() + offsetof(Elf32_Ehdr, e_machine), sizeof code.machine);
  return code;
}

std::string describe(const MachineCode& code) {
  const auto kind = [&]() -> std::string {
    switch (code.machine) {
      case EM_X86_64:
        return "x86-64";
      case EM_386:
        return "32-bit x86";
      case EM_AARCH64:
        return "ARM 64";
      case EM_ARM:
        return "ARM 32";
      case EM_RISCV:
        return "RISC-V";
      case EM_PPC64:
        return "PowerPC 64";
      case EM_S390:
        return "IBM Z";
      default:
        return fmt::format("number {}", code.machine);
    }
  };
  return fmt::format("{} machines", kind());
}

/// Whether the file ends before its section table, which comes last. Loading such a file would
/// crash this program.
bool is_cut_off(const std::filesystem::path& path) {
  Elf64_Ehdr header{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return true;
  const std::uint64_t table = std::uint64_t{header.e_shnum} * header.e_shentsize;
  return header.e_shoff + table > std::filesystem::file_size(path);
}

}  // namespace

SharedLibrary::SharedLibrary(std::filesystem::path path) : path_(std::move(path)) {
  const std::string name = path_.string();
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) {
    throw NoInputError(fmt::format("{}: there is no such file", name));
  }
  const std::optional<MachineCode> theirs = machine_code(path_);
  if (!theirs) {
    throw DataError(
        fmt::format("{}: is not a shared library (its first bytes are wrong); expected a .so built "
                    "by `rehmc compile` or BridgeStan",
                    name));
  }
  const std::optional<MachineCode> ours = machine_code("/proc/self/exe");
  if (ours && *theirs != *ours) {
    throw DataError(fmt::format(
        "{}: was built for {}, but this rehmc runs on {}; compile the model on this machine", name,
        describe(*theirs), describe(*ours)));
  }
  if (theirs->width == ELFCLASS64 && is_cut_off(path_)) {
    throw DataError(fmt::format("{}: is truncated: part of the file is missing", name));
  }
  // A bare name would be searched in the system's folders.
  handle_ = dlopen(std::filesystem::absolute(path_).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle_ == nullptr) {
    throw DataError(fmt::format("{}: cannot be loaded: {}", name, dlerror()));
  }
}

void* SharedLibrary::find(const char* name) const { return dlsym(handle_, name); }

}  // namespace rehmc
