// The names of the files in a run folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace rehmc {

/// Where the files of a run are. Chains count from 0 here and from 1 in Names::
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path manifest() const { return at(Names::manifest); }
  std::filesystem::path program() const { return at(Names::program); }
  std::filesystem::path data() const { return at(Names::data); }
  std::filesystem::path summary() const { return at(Names::summary); }
  /// The estimates of the summary, as rehmc itself reads them again.
  std::filesystem::path estimates() const { return at(Names::estimates); }
  std::filesystem::path report() const { return at(Names::report); }
  std::filesystem::path netcdf() const { return at(Names::netcdf); }
  std::filesystem::path trajectory() const { return at(Names::trajectory); }
  /// Checksums of the files that are written when a run ends.
  std::filesystem::path checksums() const { return at(Names::checksums); }
  /// Locked, and there at all, only while a process writes into the folder.
  std::filesystem::path lock() const { return at(Names::lock); }
  /// Written and removed immediately, to test whether the folder is writable.
  std::filesystem::path probe() const { return at(Names::probe); }

  std::filesystem::path draws(std::size_t chain) const { return of(Names::draws, chain, "csv"); }
  std::filesystem::path recycled(std::size_t chain) const {
    return of(Names::recycled, chain, "csv");
  }
  std::filesystem::path metric(std::size_t chain) const { return of(Names::metric, chain, "json"); }
  /// All draws as rehmc itself reads them again: nothing thinned, nothing rounded.
  std::filesystem::path states(std::size_t chain) const { return of(Names::states, chain, "bin"); }
  std::filesystem::path checkpoint(std::size_t chain) const {
    return of(Names::checkpoint, chain, "bin");
  }
  /// Whether any chain has stored a checkpoint.
  bool has_checkpoint() const;

  /// The greatest number of a chain of which there is a file; 0 if there is none.
  std::size_t last_chain() const;

  /// Whether rehmc may have written a file of this name; temporary files included.
  static bool is_ours(std::string_view name);

 private:
  /// Of files, and the beginnings of those of each chain.
  struct Names {
    static constexpr std::string_view manifest = "manifest.json";
    static constexpr std::string_view program = "model.stan";
    static constexpr std::string_view data = "data.json";
    static constexpr std::string_view summary = "summary.json";
    static constexpr std::string_view estimates = "estimates.bin";
    static constexpr std::string_view report = "report.html";
    static constexpr std::string_view netcdf = "posterior.nc";
    static constexpr std::string_view trajectory = "trajectory.json";
    static constexpr std::string_view checksums = "checksums.xxh";
    static constexpr std::string_view lock = ".lock";
    static constexpr std::string_view probe = ".writable";
    static constexpr std::string_view draws = "chain-";
    static constexpr std::string_view recycled = "recycled-";
    static constexpr std::string_view metric = "metric-";
    static constexpr std::string_view states = "states-";
    static constexpr std::string_view checkpoint = "checkpoint-";
  };

  std::filesystem::path at(std::string_view name) const { return path_ / name; }
  std::filesystem::path of(std::string_view what, std::size_t chain, const char* extension) const {
    return path_ / (std::string(what) + std::to_string(chain + 1) + "." + extension);
  }

  std::filesystem::path path_;
};

}  // namespace rehmc
