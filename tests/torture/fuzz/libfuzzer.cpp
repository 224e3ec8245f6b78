// The entry of libFuzzer: a fuzzer has one reader.
#include <cstddef>
#include <cstdint>

#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  rehmc::fuzz::read_or_refuse(rehmc::fuzz::readers().front(),
                              {reinterpret_cast<const char*>(bytes), size});
  return 0;
}
