// Checks the settings of sampling.
#include "rehmc/run/sample_settings.hpp"

#include <fmt/format.h>

#include "rehmc/core/error.hpp"

namespace rehmc {

void SampleSettings::check() const {
  check_settings(*this);
  check_settings(initial);
  kernel.check();
  warmup.check();
  if (recycle_generated && kernel.recycling.kind == RecyclingKind::none) {
    throw ConfigError(
        "recycle-generated: recycling none keeps no states; leave out one of the two");
  }
  if (start.size() > 1 && start.size() != static_cast<std::size_t>(chains)) {
    throw ConfigError(
        fmt::format("start: {} positions for {} chains; give none, one, or one per chain",
                    start.size(), chains));
  }
}

}  // namespace rehmc
