// Compares the interpreter's gradient with its log density before anyone relies on it.
#pragma once

#include <functional>
#include <string>

#include "rehmc/model/bridge.hpp"

namespace rehmc::stan {

/// Differences at a few random points; along random directions where coordinates are many or the
/// model is slow, and not at all, with a note, where even that would take long. ModelError names
/// the parameter whose derivative is wrong. `file` is for messages.
void check_interpreter(const BridgeDensity& density, const std::string& file,
                       const std::function<void(const std::string&)>& note);

}  // namespace rehmc::stan
