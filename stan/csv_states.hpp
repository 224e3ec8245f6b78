// Draws in Stan CSV files as states of the program that made them.
#pragma once

#include "rehmc/model/bridge.hpp"
#include "rehmc/output/sample_result.hpp"

namespace rehmc::stan {

/// Takes draws of a program, as read_stan_csv() returns them, back to unconstrained positions, and
/// computes a gradient at each, so that they can be sharpened. The columns stay those of the files.
/// DataError if the files lack a parameter, if draws cannot be taken back (text files round, and a
/// value may be rounded onto a bound), or if `lp__` is not the program's log density: then program
/// or data are not those of the draws.
SampleResult with_states(const SampleResult& csv, const BridgeDensity& model);

}  // namespace rehmc::stan
