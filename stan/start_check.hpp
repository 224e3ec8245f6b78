// Compares the interpreter's gradient with its log density before it is used.
#pragma once

#include <functional>
#include <string>

#include "rehmc/model/bridge.hpp"

namespace rehmc::stan {

/// Differences at a few random points; along random directions if there are many coordinates or the
/// model is slow; skipped, with a note, if even that would take long. ModelError names the
/// parameter whose derivative is wrong. `file` is for messages.
void check_interpreter(const BridgeDensity& density, const std::string& file,
                       const std::function<void(const std::string&)>& note);

}  // namespace rehmc::stan
