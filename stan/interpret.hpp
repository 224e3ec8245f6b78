// Stan programs without a compiler: the interpreter turns a program into a density in milliseconds.
#pragma once

#include <cstdint>
#include <string>

#include "rehmc/core/error.hpp"
#include "rehmc/model/bridge.hpp"
#include "stan/program.hpp"

namespace rehmc::stan {

/// The interpreter does not support the program, which may still be correct.
class Refusal : public ModelError {
 public:
  using ModelError::ModelError;
};

/// `data` is strict JSON. DataError with stanc's message if the program is wrong, or with the
/// program's message about its data; Refusal if the interpreter does not support what it uses.
BridgeDensity interpret(const Program& program, const std::string& data, std::uint32_t seed);

/// What the density depends on besides the program and its data.
std::string interpreter_identity();

}  // namespace rehmc::stan
