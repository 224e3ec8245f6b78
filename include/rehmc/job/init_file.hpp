// Starting positions from a JSON file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rehmc {

/// An object {"mu": 1, "theta": [1, 2, 3]} with a value for every parameter, or an array of such
/// objects, one per chain. Names of elements ("theta.2") may be given as well. DataError names the
/// file, the key, what was found and what was expected; NoInputError if the file does not exist.
std::vector<std::vector<double>> read_init_file(const std::filesystem::path& path,
                                                const std::vector<std::string>& names);

}  // namespace rehmc
