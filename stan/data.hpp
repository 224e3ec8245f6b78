// The data of a model as JSON, made strict: what CmdStan takes and the standard does not.
#pragma once

#include <string>

namespace rehmc::stan {

/// Quotes bare NaN and infinities, as every reader of Stan's data understands them. DataError with
/// the place if the rest is not JSON, or not an object. `file` is for messages.
std::string strict_json(const std::string& text, const std::string& file);

/// The object with one more key in front.
std::string with_key(const std::string& object, const std::string& key, const std::string& value);

}  // namespace rehmc::stan
