// Draws the number of steps of a path.
#pragma once

#include <cstdint>

#include "rehmc/core/random.hpp"
#include "rehmc/kernel/kernel.hpp"

namespace rehmc {

/// L as the settings say; independent of the chain's state.
std::uint64_t draw_path_steps(const HmcSettings& settings, double step_size,
                              const Address& address);

}  // namespace rehmc
