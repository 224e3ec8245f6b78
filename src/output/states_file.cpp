// Writes and reads states files.
#include "rehmc/output/states_file.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"

namespace rehmc {

StatesSink::StatesSink(const std::filesystem::path& path, KeptGradients gradients)
    : file_(path), gradients_(gradients) {}

StatesSink::StatesSink(const std::filesystem::path& path, KeptGradients gradients,
                       const StatesMark& mark, const ChainRecord& stored)
    : file_(path, mark.bytes),
      gradients_(gradients),
      mark_(mark),
      has_kept_(!stored.kept_weight.empty()) {}

void StatesSink::begin(const SamplingStart& start) {
  mark_.centre.assign(start.reader.centre().begin(), start.reader.centre().end());
}

void StatesSink::add(const ReadDraw& draw, std::uint64_t /*index*/) {
  has_kept_ = has_kept_ || !draw.kept.empty();
  archive_draw(scratch_, draw, gradients_, has_kept_);
  file_.waiting() += scratch_.bytes();
  scratch_.clear();
  ++(draw.of_warmup ? mark_.warmup_draws : mark_.draws);
}

StatesMark StatesSink::mark() const {
  StatesMark mark = mark_;
  mark.bytes = file_.size();
  return mark;
}

void read_states(const std::filesystem::path& path, const StatesMark& mark, ChainResult& result) {
  if (mark.bytes == 0) return;
  const std::string bytes = read_file(path);
  if (bytes.size() < mark.bytes) {
    throw FileError(fmt::format("{}: has {} bytes, but the checkpoint records {}", path.string(),
                                bytes.size(), mark.bytes));
  }
  ArchiveReader reader(std::string_view(bytes).substr(0, mark.bytes));
  try {
    for (std::uint64_t i = 0; i < mark.warmup_draws; ++i) result.warmup.add_archived(reader);
    for (std::uint64_t i = 0; i < mark.draws; ++i) result.record.add_archived(reader);
    if (reader.left() != 0) throw DataError("there are more values than the checkpoint records");
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace rehmc
