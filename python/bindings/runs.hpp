// Runs that Python starts, and their results.
#pragma once

#include <nanobind/nanobind.h>

namespace rehmc::python {

/// Adds the classes Control and Result, and the functions that make results, to the module.
void add_runs(nanobind::module_& module);

}  // namespace rehmc::python
