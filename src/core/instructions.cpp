// Asks the processor, and the environment variable REHMC_INSTRUCTIONS.
#include "rehmc/core/instructions.hpp"

#include <algorithm>
#include <cstdlib>

namespace rehmc {

namespace {

Instructions of_processor() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return Instructions::avx512;
  }
  if (__builtin_cpu_supports("avx2")) return Instructions::avx2;
#endif
  return Instructions::baseline;
}

/// The most that the environment allows; a word that is none of ours allows all.
Instructions allowed() noexcept {
  const char* const word = std::getenv("REHMC_INSTRUCTIONS");
  if (word == nullptr) return Instructions::avx512;
  for (const Instructions each : {Instructions::baseline, Instructions::avx2}) {
    if (describe(each) == word) return each;
  }
  return Instructions::avx512;
}

}  // namespace

namespace detail {
// Until this is initialised it is 0, the baseline, which has the same bits.
Instructions used_instructions = available_instructions();
}  // namespace detail

std::string_view describe(Instructions instructions) noexcept {
  switch (instructions) {
    case Instructions::baseline:
      return "baseline";
    case Instructions::avx2:
      return "avx2";
    case Instructions::avx512:
      return "avx512";
  }
  return "unknown";
}

Instructions available_instructions() noexcept { return std::min(of_processor(), allowed()); }

void use_instructions(Instructions instructions) noexcept {
  detail::used_instructions = std::min(instructions, of_processor());
}

}  // namespace rehmc
