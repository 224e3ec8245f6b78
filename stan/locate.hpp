// Finds the statement of a Stan program that raises an error, where the interpreter does not tell.
#pragma once

#include <cstdint>
#include <string>

namespace rehmc::stan {

/// A program with its data, as texts.
struct LocatedProgram {
  std::string name;   ///< of its file
  std::string whole;  ///< with everything that it includes
  std::string data;   ///< strict JSON, or empty
  std::uint32_t seed = 0;
};

/// Such as "(in 'model.stan', line 3)": the first statement of the transformed parameters or the
/// model that fails with this message. The program is evaluated in pieces: from its beginning to a
/// statement, at a random point where the whole program fails in this way. Empty if no such point
/// is found, or if the message tells the place already.
std::string locate_error(const LocatedProgram& program, const std::string& message);

}  // namespace rehmc::stan
