// Private to job/: the data of a run as arrays.
#pragma once

#include <map>
#include <string>

#include "rehmc/output/netcdf.hpp"

namespace rehmc {

/// The variables of a data file that are numbers or full grids of numbers. Others are left out:
/// tuples, empty arrays, arrays whose rows differ in length. None if this is not JSON.
std::map<std::string, DataArray> data_arrays(const std::string& json);

}  // namespace rehmc
