// Settings from a dictionary of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "rehmc/job/run_settings.hpp"

namespace rehmc::python {

/// The settings of a run, by the names that the manifest uses. ConfigError for a name that there is
/// not, with the nearest one, and for values of the wrong kind.
RunSettings settings_from(const nanobind::dict& given);

/// The names of all settings, for messages and tests.
nanobind::list setting_names();

}  // namespace rehmc::python
