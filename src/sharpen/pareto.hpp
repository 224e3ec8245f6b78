// Private to sharpen/: how heavy a tail is.
#pragma once

#include <span>

namespace rehmc {

/// The shape k of a generalised Pareto law fitted to the largest values: moments of order 1/k and
/// above do not exist. -inf where the tail has no spread, NaN for too few values.
double tail_shape(std::span<const double> values);

}  // namespace rehmc
