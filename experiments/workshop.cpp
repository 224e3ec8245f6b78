// Seeds of the phases of an experiment.
#include "experiments/workshop.hpp"

#include <fmt/format.h>

#include "rehmc/core/hash.hpp"

namespace rehmc::experiments {

std::uint64_t Workshop::seed_of(std::string_view phase) const {
  const std::string hash = content_hash(fmt::format("{} {}", seed, phase));
  return std::stoull(hash.substr(0, 16), nullptr, 16);
}

}  // namespace rehmc::experiments
