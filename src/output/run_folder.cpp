// Recognises the files of a run in a folder.
#include "rehmc/output/run_folder.hpp"

#include <algorithm>

namespace rehmc {

bool RunFolder::is_ours(std::string_view name) {
  const auto all = {Names::manifest,  Names::program, Names::data,       Names::summary,
                    Names::report,    Names::netcdf,  Names::trajectory, Names::probe,
                    Names::checksums, Names::lock,    Names::draws,      Names::recycled,
                    Names::metric,    Names::states,  Names::checkpoint};
  return std::ranges::any_of(all, [&](std::string_view start) { return name.starts_with(start); });
}

bool RunFolder::has_checkpoint() const {
  const std::filesystem::directory_iterator entries(path_);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().filename().string().starts_with(Names::checkpoint);
  });
}

}  // namespace rehmc
