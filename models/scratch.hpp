// Memory that calls reuse.
#pragma once

#include <cstddef>

#include "models/aligned_vector.hpp"

namespace rehmc {

/// At least this many numbers. In a file of its own: callers are compiled for instructions that
/// not every processor has, and what they inline from containers could be shared with others.
double* room_for(std::size_t numbers, AlignedVector& memory);

}  // namespace rehmc
