// The facts of a chain: how far it is, its tuning, what it cost and what went wrong.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "rehmc/adapt/warmup_story.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/model/spot_check.hpp"
#include "rehmc/output/quantity_reader.hpp"

namespace rehmc {

/// Everything known about a chain except its draws. A chain keeps them, a result holds them, and a
/// checkpoint stores them.
struct ChainFacts {
  std::uint64_t iterations = 0;         ///< done, including warmup
  bool sampling = false;                ///< warmup has ended
  std::uint64_t warmup_iterations = 0;  ///< once it has
  Tuning tuning{};
  std::uint64_t gradients_start = 0;  ///< of the search for a start; part of gradients_warmup
  std::uint64_t gradients_warmup = 0;
  std::uint64_t gradients_sampling = 0;
  std::uint64_t divergences_warmup = 0;
  std::uint32_t warmup_troubles = 0;  ///< bits of WarmupTrouble
  bool restarted = false;             ///< once in warmup, at a start of its own
  WarmupStory story{};
  SpotCheck spot_check{};  ///< of the gradient, at the state where sampling began
  double seconds_warmup = 0;
  double seconds_sampling = 0;
  std::array<std::uint64_t, fault_count> faults{};  ///< of the model, by cause, warmup included
  std::string first_message{};                      ///< of the first exception that the model threw
  QuantityFailures quantity_failures{};             ///< after warmup

  template <class Archive>
  void archive(Archive& archive) {
    archive(iterations, sampling, warmup_iterations, tuning, gradients_start, gradients_warmup,
            gradients_sampling, divergences_warmup, warmup_troubles, restarted, story, spot_check,
            seconds_warmup, seconds_sampling, faults, first_message, quantity_failures);
  }
};

}  // namespace rehmc
