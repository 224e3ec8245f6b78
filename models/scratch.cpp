// Grows memory when a call needs more than those before it.
#include "models/scratch.hpp"

namespace rehmc {

double* room_for(std::size_t numbers, AlignedVector& memory) {
  if (numbers > memory.size()) memory = AlignedVector(numbers);
  return memory.data();
}

}  // namespace rehmc
