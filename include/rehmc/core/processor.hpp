// The model of the processor, to be reported with measured times.
#pragma once

#include <string>

namespace rehmc {

/// As named in /proc/cpuinfo; "unknown processor" if it is not.
std::string processor_name();

}  // namespace rehmc
