// Stan programs without a compiler: the interpreter makes a density of a program in milliseconds.
#pragma once

#include <cstdint>
#include <string>

#include "rehmc/core/error.hpp"
#include "rehmc/model/bridge.hpp"
#include "stan/program.hpp"

namespace rehmc::stan {

/// The interpreter knows no such program, though it may be a right one.
class Refusal : public ModelError {
 public:
  using ModelError::ModelError;
};

/// `data` is strict JSON. DataError with stanc's message if the program is wrong, or with what the
/// program said of its data; Refusal if the interpreter does not know what the program uses.
BridgeDensity interpret(const Program& program, const std::string& data, std::uint32_t seed);

/// What the density depends on beside the program and its data.
std::string interpreter_identity();

}  // namespace rehmc::stan
