// The exact posterior of the eight schools.
#pragma once

#include "exact_target.hpp"

namespace rehmc::bench {

/// The built-in model, non-centred, on its coordinates: mu, log tau, theta_trans_1, ...
ExactTarget schools(double fineness);

}  // namespace rehmc::bench
