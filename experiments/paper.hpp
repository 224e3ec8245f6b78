// The numerical sections of the paper: runs them and writes their tables.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/workshop.hpp"

namespace rehmc::experiments {

/// A part of the paper that can be run by itself.
struct Section {
  std::string name;
  std::string summary;  ///< one line
};
const std::vector<Section>& sections();
/// The studies that the sections about test cases consist of; each can be run by itself.
std::vector<std::string> studies();

struct PaperSettings {
  std::vector<std::string> sections;  ///< or studies of a case; none: all of them
  Scale scale = Scale::quick;
  std::uint64_t seed = 1;
  std::size_t threads = 0;
  std::filesystem::path output;
  std::filesystem::path data_folder;
  bool fresh = false;  ///< discard what an earlier run has finished
};

/// The progress of the run.
struct PaperProgress {
  std::string section;
  std::string piece;   ///< what was finished last
  double done = 0;     ///< share of the work, roughly
  double seconds = 0;  ///< since the start
  double seconds_left = 0;
};

struct PaperCallbacks {
  const std::atomic<int>* stop = nullptr;
  std::function<void(const PaperProgress&)> progress = [](const PaperProgress&) {};
  std::function<void(const std::string&)> notice = [](const std::string&) {};
};

/// Runs the sections, writes the numbers as CSV files into the output folder, and then the claims.
/// What was finished by an earlier run of the same scale and seed is not run again, and its tables
/// keep their rows. ConfigError for an unknown section or study, or a folder with another run;
/// Stopped if the user stopped it.
void run_paper(const PaperSettings& settings, const PaperCallbacks& callbacks);

}  // namespace rehmc::experiments
