// Compares the interpreter's gradient with its log density before it is used.
#pragma once

#include <functional>
#include <string>

#include "rehmc/model/bridge.hpp"

namespace rehmc::stan {

/// Differences at a few random points; along random directions if there are many coordinates; with
/// a note instead if the density can be used at none of the points. ModelError names the parameter
/// whose derivative is wrong. The files, of which that of the data may be empty, are for messages.
void check_interpreter(const BridgeDensity& density, const std::string& file,
                       const std::string& data_file,
                       const std::function<void(const std::string&)>& note);

}  // namespace rehmc::stan
