// Writes and reads states files.
#include "rehmc/output/states_file.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "rehmc/core/error.hpp"

namespace rehmc {

StatesSink::StatesSink(const std::filesystem::path& path, KeptGradients gradients)
    : file_(path), gradients_(gradients) {}

StatesSink::StatesSink(const std::filesystem::path& path, KeptGradients gradients,
                       const StatesMark& mark)
    : file_(path, mark.seal), gradients_(gradients), mark_(mark) {}

void StatesSink::begin(const SamplingStart& start) {
  mark_.centre.assign(start.reader.centre().begin(), start.reader.centre().end());
  // Addresses only: a text that grows by moving touches several times its memory.
  constexpr std::size_t usual_bytes = 1 << 20;
  file_.waiting().reserve(usual_bytes);
}

void StatesSink::add(const ReadDraw& draw, std::uint64_t /*index*/) {
  archive_draw(scratch_, draw, gradients_);
  file_.waiting() += scratch_.bytes();
  scratch_.clear();
  ++(draw.of_warmup ? mark_.warmup_draws : mark_.draws);
}

StatesMark StatesSink::mark() const {
  StatesMark mark = mark_;
  mark.seal = file_.seal();
  return mark;
}

void read_states(const std::filesystem::path& path, const StatesMark& mark, ChainResult& result) {
  std::string bytes;
  read_sealed(path, mark.seal, [&](std::string_view piece) { bytes.append(piece); });
  ArchiveReader reader(bytes);
  try {
    for (std::uint64_t i = 0; i < mark.warmup_draws; ++i) result.warmup.add_archived(reader);
    for (std::uint64_t i = 0; i < mark.draws; ++i) result.record.add_archived(reader);
    for (const ChainRecord* record : {&result.record, &result.warmup}) {
      record->require_whole();
    }
    if (result.record.kept_end.size() != result.record.size()) {
      throw DataError("some draws have kept states and others have not");
    }
    if (reader.left() != 0) throw DataError("there are more values than the checkpoint records");
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace rehmc
