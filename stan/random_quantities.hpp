// Which generated quantities of a program may depend on random numbers.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace rehmc::stan {

/// The variables in a program's generated quantities whose values may depend on random numbers: by
/// the flow of data and of control from every call of a function whose name ends in _rng, which in
/// this language is every function that draws one. All other generated quantities are functions of
/// the state. (Whether they can be computed may still depend on chance: a failure makes a value NaN
/// and its estimates unknown.) `program` must be one that stanc has accepted, with its includes.
std::set<std::string> random_quantities(std::string_view program);

}  // namespace rehmc::stan
