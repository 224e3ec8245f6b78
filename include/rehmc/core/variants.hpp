// Functions that are compiled for several sets of vector instructions, in namespaces named by them.
#pragma once

#include "rehmc/core/instructions.hpp"

namespace rehmc {

/// That of the functions which is compiled for the instructions in use.
template <class Function>
Function variant_in_use(Function baseline, Function avx2, Function avx512) noexcept {
  switch (instructions()) {
    case Instructions::avx512:
      return avx512;
    case Instructions::avx2:
      return avx2;
    case Instructions::baseline:
      break;
  }
  return baseline;
}

// REHMC_VARIANT_IN_USE(name) is the one of baseline::name, avx2::name and avx512::name; where there
// are no others, the first.
#ifdef REHMC_ALL_INSTRUCTIONS
#define REHMC_VARIANT_IN_USE(name) ::rehmc::variant_in_use(baseline::name, avx2::name, avx512::name)
#else
#define REHMC_VARIANT_IN_USE(name) baseline::name
#endif

}  // namespace rehmc
