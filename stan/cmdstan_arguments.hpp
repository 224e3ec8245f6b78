// CmdStan's arguments, as arguments of rehmc sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rehmc::stan {

/// What a call of an executable with CmdStan's arguments asks for.
struct CmdstanCall {
  enum class Wants { sample, optimize, laplace, pathfinder, generate, log_prob, help, info };
  Wants wants = Wants::sample;
  std::filesystem::path output{};  ///< CmdStan's name of the output file
  std::size_t chains = 1;
  std::size_t id = 1;                       ///< of the first chain
  std::vector<std::string> sample_words{};  ///< of `rehmc sample`, without program and folder
  std::string data{};
  std::string init{};
  std::optional<std::uint64_t> seed{};
  bool jacobian = true;      ///< optimize, laplace, log_prob: whether the density is that of R^d
  std::size_t draws = 1000;  ///< laplace, pathfinder
  /// Of generate_quantities: draws; of laplace: the mode; of log_prob: points.
  std::string input{};
  bool unconstrained = false;  ///< log_prob: the points are those of R^d
  std::size_t refresh = 100;
};

/// ConfigError for what rehmc does not know or does not do.
CmdstanCall read_cmdstan_call(const std::string& executable, const std::vector<std::string>& words);

}  // namespace rehmc::stan
