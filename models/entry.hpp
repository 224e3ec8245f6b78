// The description of a built-in model: its name, its help, and how to construct it from data.
//
// A new model is one file, models/NAME.cpp (with its header). It defines
//
//   ModelEntries NAME_entries() {
//     return {{...}};
//   }
//
// and the build finds it by this line (cmake/ModelEntries.cmake): there is no list to edit.
#pragma once

#include <string>
#include <vector>

#include "models/registry.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc {

class DataReader;

struct ModelEntry {
  int place;  ///< lists show models in the order of this number
  ModelInfo info;
  std::vector<std::string> keys;  ///< that its data may have
  /// Increase it when the same data define another density, so that the identity changes too.
  int version;
  Density (*make)(DataReader&);
};

/// A file may hold several models.
using ModelEntries = std::vector<ModelEntry>;

/// One function for each file that has models; generated.
std::vector<ModelEntries (*)()> entry_functions();

}  // namespace rehmc
