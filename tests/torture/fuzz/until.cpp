// Fuzzes the conditions of --until.
#include "rehmc/job/until.hpp"
#include "reader.hpp"

REHMC_FUZZ(until) { rehmc::parse_until(bytes); }
