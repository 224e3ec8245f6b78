// The names of the files in a run folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

namespace rehmc {

/// Where the files of a run are. Chains count from 0 here and from 1 in names.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path manifest() const { return path_ / "manifest.json"; }
  std::filesystem::path program() const { return path_ / "model.stan"; }
  std::filesystem::path data() const { return path_ / "data.json"; }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path report() const { return path_ / "report.html"; }
  std::filesystem::path netcdf() const { return path_ / "posterior.nc"; }
  std::filesystem::path trajectory() const { return path_ / "trajectory.json"; }

  std::filesystem::path draws(std::size_t chain) const { return of("chain", chain, "csv"); }
  std::filesystem::path recycled(std::size_t chain) const { return of("recycled", chain, "csv"); }
  std::filesystem::path metric(std::size_t chain) const { return of("metric", chain, "json"); }
  /// All draws as rehmc itself reads them again: nothing thinned, nothing rounded.
  std::filesystem::path states(std::size_t chain) const { return of("states", chain, "bin"); }
  std::filesystem::path checkpoint(std::size_t chain) const {
    return of("checkpoint", chain, "bin");
  }

 private:
  std::filesystem::path of(const char* what, std::size_t chain, const char* extension) const {
    return path_ / (std::string(what) + "-" + std::to_string(chain + 1) + "." + extension);
  }

  std::filesystem::path path_;
};

}  // namespace rehmc
