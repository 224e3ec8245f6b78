// Checks of arguments that every estimate needs.
#pragma once

namespace rehmc {

/// DataError unless the weight is finite and not negative.
void require_weight(double weight);
/// ConfigError unless the probability lies between 0 and 1.
void require_probability(double probability);

}  // namespace rehmc
