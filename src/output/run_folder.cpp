// Recognises the files of a run in a folder.
#include "rehmc/output/run_folder.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string>

namespace rehmc {

namespace {

/// Whether a name is START, a number, and one of these ends.
bool is_of_chain(std::string_view name, std::string_view start,
                 std::initializer_list<std::string_view> ends) {
  if (!name.starts_with(start)) return false;
  name.remove_prefix(start.size());
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits > 0 && std::ranges::find(ends, name.substr(digits)) != ends.end();
}

}  // namespace

bool RunFolder::is_ours(std::string_view name) {
  constexpr std::string_view unfinished = ".tmp";
  if (name.ends_with(unfinished)) name.remove_suffix(unfinished.size());
  const auto all = {Names::manifest,  Names::program, Names::data,       Names::summary,
                    Names::report,    Names::netcdf,  Names::trajectory, Names::probe,
                    Names::checksums, Names::lock,    Names::estimates};
  return std::ranges::find(all, name) != all.end() || is_of_chain(name, Names::draws, {".csv"}) ||
         is_of_chain(name, Names::recycled, {".csv"}) ||
         is_of_chain(name, Names::metric, {".json"}) ||
         is_of_chain(name, Names::states, {".bin"}) ||
         is_of_chain(name, Names::checkpoint, {".bin", "-previous.bin"});
}

std::size_t RunFolder::last_chain() const {
  std::size_t last = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    const std::size_t digits = name.find('-') + 1;
    std::size_t chain = 0;
    if (!is_ours(name) || digits == 0) continue;
    if (std::from_chars(name.data() + digits, name.data() + name.size(), chain).ec == std::errc{}) {
      last = std::max(last, chain);
    }
  }
  return last;
}

bool RunFolder::has_checkpoint() const {
  const std::filesystem::directory_iterator entries(path_);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().filename().string().starts_with(Names::checkpoint);
  });
}

}  // namespace rehmc
