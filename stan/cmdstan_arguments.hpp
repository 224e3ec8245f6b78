// CmdStan's arguments, as arguments of rehmc sample.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace rehmc::stan {

/// What a call of an executable with CmdStan's arguments asks for.
struct CmdstanCall {
  enum class Wants { sample, help, info };
  Wants wants = Wants::sample;
  std::filesystem::path output{};  ///< CmdStan's name of the output file
  std::size_t chains = 1;
  std::size_t id = 1;                       ///< of the first chain
  std::vector<std::string> sample_words{};  ///< of `rehmc sample`, without program and folder
};

/// ConfigError for what rehmc does not know or does not do.
CmdstanCall read_cmdstan_call(const std::string& executable, const std::vector<std::string>& words);

}  // namespace rehmc::stan
