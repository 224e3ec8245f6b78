// What every experiment needs: threads, seeds, the folder of finished pieces, a way to stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "experiments/scale.hpp"
#include "rehmc/core/archive.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/run/engine.hpp"

namespace rehmc::experiments {

/// Thrown when the user stops the run. Finished pieces are kept.
class Stopped : public Error {
 public:
  Stopped() : Error(ExitCode::interrupted, "stopped") {}
};

struct Workshop {
  Scale scale = Scale::full;
  std::uint64_t seed = 1;
  std::size_t threads = 0;            ///< 0: one per core
  std::filesystem::path pieces;       ///< the folder of what is finished
  std::filesystem::path data_folder;  ///< may be empty
  const std::atomic<int>* stop = nullptr;
  /// Called with the name of every piece that is finished.
  std::function<void(const std::string& piece)> finished = [](const std::string&) {};

  /// Throws Stopped if the user stopped the run.
  void check_stop() const {
    if (stop != nullptr && stop->load(std::memory_order_relaxed) > 0) throw Stopped();
  }

  /// Every phase has its own seed, so that no two share random numbers.
  std::uint64_t seed_of(std::string_view phase) const;

  Engine engine(const Density& density, std::size_t chains) const {
    return {density, {EngineKind::batch, chains, threads, 32}};
  }

  std::filesystem::path file_of(const std::string& name) const { return pieces / (name + ".bin"); }
  bool holds(const std::string& name) const { return std::filesystem::exists(file_of(name)); }

  /// A finished piece, or nothing if there is none yet. DataError for a damaged file.
  template <class Piece>
  std::optional<Piece> load(const std::string& name) const {
    if (!holds(name)) return std::nullopt;
    const std::string bytes = read_file(file_of(name));
    ArchiveReader archive(bytes);
    Piece piece{};
    archive(piece);
    return piece;
  }
  template <class Piece>
  void store(const std::string& name, const Piece& piece) const {
    ArchiveWriter archive;
    archive(piece);
    write_whole(file_of(name), archive.bytes());
    finished(name);
  }
  /// The stored piece, or a new one, which is then stored.
  template <class Make>
  auto load_or_make(const std::string& name, Make&& make) const {
    using Piece = decltype(make());
    if (auto stored = load<Piece>(name)) return std::move(*stored);
    Piece piece = make();
    store(name, piece);
    return piece;
  }
};

}  // namespace rehmc::experiments
