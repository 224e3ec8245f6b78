// The built-in models by name, constructed from data in JSON.
#pragma once

#include <string>
#include <vector>

#include "rehmc/model/log_density.hpp"

namespace rehmc {

/// The description of a built-in model, for users.
struct ModelInfo {
  std::string name;
  std::string summary;       ///< one line
  std::string description;   ///< density, parameters, reference
  std::string data_help;     ///< the keys that its data may have
  std::string data_example;  ///< JSON that the model takes
};

/// In the order in which a list shows them.
const std::vector<ModelInfo>& built_in_models();

/// ConfigError for an unknown name, with the nearest known one.
const ModelInfo& model_info(const std::string& name);

struct BuiltModel {
  Density density;
  std::string name;
  /// A hash of the name, the version of the model and its data, defaults included: equal for equal
  /// densities, however their data were written.
  std::string identity;
};

/// ConfigError for an unknown name, with the nearest known one; DataError for bad data, with the
/// file, the key and what is expected. `data_file` is only for messages; if it is empty, no data
/// were given.
BuiltModel make_model(const std::string& name, const std::string& data_text,
                      const std::string& data_file);

}  // namespace rehmc
