// What an executable with CmdStan's arguments does besides sampling.
#pragma once

#include <string>

#include "stan/cmdstan_arguments.hpp"

namespace rehmc::cli {

/// optimize, laplace, pathfinder, generate_quantities or log_prob: writes CmdStan's output file.
int run_cmdstan_method(const stan::CmdstanCall& call, const std::string& program);

}  // namespace rehmc::cli
