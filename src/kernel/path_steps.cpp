// Draws the number of steps of a path.
#include "path_steps.hpp"

#include <algorithm>
#include <cmath>

namespace rehmc {

std::uint64_t draw_path_steps(const HmcSettings& settings, double step_size,
                              const Address& address) {
  Stream stream(address, Purpose::path_length);
  if (settings.path_steps > 0) {
    const int most = std::max(settings.path_steps, settings.path_steps_most);
    const auto choices = static_cast<std::uint64_t>(most - settings.path_steps + 1);
    return std::min(static_cast<std::uint64_t>(settings.path_steps) + stream.below(choices),
                    static_cast<std::uint64_t>(settings.max_steps));
  }
  const double jitter =
      settings.jitter_least + (settings.jitter_most - settings.jitter_least) * stream.uniform();
  const double steps = std::round(jitter * settings.path_length / step_size);
  return static_cast<std::uint64_t>(
      std::clamp(steps, 1.0, static_cast<double>(settings.max_steps)));
}

}  // namespace rehmc
