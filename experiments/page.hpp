// The page about the paper: its claims, what was measured, the figures; drawn from tables alone.
#pragma once

#include <filesystem>

namespace rehmc::experiments {

/// Draws the tables of a results folder (experiments/README.md describes them): the figures into
/// FOLDER/figures, the page as FOLDER/paper.html. What misses its tables is left out, and the page
/// says so. NoInputError if the folder holds no table, DataError if a table is wrong.
void draw_results(const std::filesystem::path& folder);

}  // namespace rehmc::experiments
