// Fuzzes CmdStan's arguments: lines are words.
#include <string>
#include <vector>

#include "lines.hpp"
#include "reader.hpp"
#include "stan/cmdstan_arguments.hpp"

REHMC_FUZZ(cmdstan) { rehmc::stan::read_cmdstan_call("program", rehmc::fuzz::lines_of(bytes)); }
