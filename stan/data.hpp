// The data of a model as strict JSON, without the extensions that CmdStan accepts.
#pragma once

#include <string>

namespace rehmc::stan {

/// Quotes bare NaN and infinities, which every reader of Stan's data accepts. DataError with the
/// position if the rest is not JSON, or not an object. `file` is for messages.
std::string strict_json(const std::string& text, const std::string& file);

/// The object with one more key, as its first.
std::string with_key(const std::string& object, const std::string& key, const std::string& value);

}  // namespace rehmc::stan
