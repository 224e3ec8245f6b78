// Which vector instructions hot loops use: chosen at run time, without a change of any bit.
#pragma once

#include <string_view>

namespace rehmc {

/// The sets of instructions that hot loops are compiled for, each needing more of a processor than
/// the one before. Sums have the same order in all of them, and nothing is fused: the bits are the
/// same.
enum class Instructions { baseline, avx2, avx512 };

std::string_view describe(Instructions instructions) noexcept;

/// The best that this processor has. The environment variable REHMC_INSTRUCTIONS may ask for less:
/// baseline, avx2 or avx512.
Instructions available_instructions() noexcept;

/// Uses these from now on; for tests and measurements. What was made before may keep others.
/// Nothing changes if the processor does not have them.
void use_instructions(Instructions instructions) noexcept;

namespace detail {
extern Instructions used_instructions;
}

/// Those in use.
inline Instructions instructions() noexcept { return detail::used_instructions; }

// Clang has neither the option of the attribute nor a need for it: it is used for checks alone.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

namespace detail {
// All that the loop calls is inlined, and with it compiled for these instructions. It is passed by
// value, so that what it writes cannot overlap with what it has captured by value.
template <class Loop>
[[gnu::target("avx2"), gnu::flatten, gnu::noinline]] auto run_with_avx2(Loop loop) {
  return loop();
}
template <class Loop>
[[gnu::target("avx512f,avx512cd,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"), gnu::flatten,
  gnu::noinline]] auto
run_with_avx512(Loop loop) {
  return loop();
}
}  // namespace detail

/// Calls a function that is mostly loops over numbers, compiled for the instructions in use. It
/// should capture by value. Its file must be compiled without contraction of floating-point
/// expressions.
template <class Loop>
auto hot_loop(const Loop& loop) {
  switch (instructions()) {
    case Instructions::avx512:
      return detail::run_with_avx512(loop);
    case Instructions::avx2:
      return detail::run_with_avx2(loop);
    case Instructions::baseline:
      break;
  }
  return loop();
}

#else

template <class Loop>
auto hot_loop(const Loop& loop) {
  return loop();
}

#endif

}  // namespace rehmc
