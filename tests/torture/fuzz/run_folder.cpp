// Fuzzes all that is done with a folder: its run is checked, summarised, shown and continued.
//
// An input is the kind of the run, and edits of parts of its files beneath their checksums, which
// an attacker computes: part, place (two bytes, from the end if the highest bit is set), kind of
// edit, and the bytes that it takes.
#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "folder.hpp"
#include "reader.hpp"
#include "rehmc/job/check_run.hpp"
#include "rehmc/output/kept_quantities.hpp"
#include "rehmc/output/recycled_arrow.hpp"
#include "rehmc/output/stored_result.hpp"
#include "rehmc/report/report.hpp"
#include "rehmc/summary/calibrated_weights.hpp"
#include "rehmc/summary/summary_json.hpp"
#include "tests/job/hostile_folder.hpp"

namespace {

using rehmc::testing::Forgery;
using rehmc::testing::Part;
using rehmc::testing::RunKind;

/// Takes bytes from the front; fewer if there are no more.
std::string_view taken(std::string_view& bytes, std::size_t count) {
  const std::string_view front = bytes.substr(0, count);
  bytes.remove_prefix(front.size());
  return front;
}

std::size_t number(std::string_view bytes) {
  std::size_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
  return value;
}

/// One edit of a part.
struct Edit {
  Part part;
  std::size_t place;
  std::size_t kind;
  std::string_view value;
};

Edit read_edit(std::string_view& edits) {
  constexpr std::array<std::size_t, 6> sizes{1, 4, 8, 1, 1, 1};
  Edit edit{};
  edit.part = static_cast<Part>(number(taken(edits, 1)) % rehmc::testing::parts);
  edit.place = number(taken(edits, 2));
  edit.kind = number(taken(edits, 1)) % sizes.size();
  edit.value = taken(edits, sizes[edit.kind]);
  return edit;
}

void apply(const Edit& edit, std::string& bytes) {
  if (bytes.empty()) return;
  const std::size_t distance = (edit.place & 0x7fffU) % bytes.size();
  const std::size_t at = (edit.place & 0x8000U) != 0 ? bytes.size() - 1 - distance : distance;
  if (edit.kind < 3) {  // overwrites a number
    bytes.replace(at, std::min(edit.value.size(), bytes.size() - at), edit.value);
  } else if (edit.kind == 3) {  // adds to a count
    const std::uint64_t count =
        number(std::string_view(bytes).substr(at)) + number(edit.value) - 128;
    bytes.replace(at, sizeof(count), reinterpret_cast<const char*>(&count), sizeof(count));
  } else if (edit.kind == 4) {  // inserts
    bytes.insert(at, std::string(number(edit.value), '\0'));
  } else {  // removes
    bytes.erase(at, number(edit.value));
  }
}

/// An error of rehmc is a good end of a step; the others follow all the same.
template <class Step>
void attempt(const Step& step) {
  try {
    step();
  } catch (const rehmc::Error&) {
  }
}

void show(const rehmc::RunFolder& folder, const rehmc::Manifest& manifest, RunKind kind) {
  rehmc::SampleResult result = rehmc::load_run(folder, manifest);
  rehmc::cut_to_shortest(result);
  if (std::ranges::any_of(result.chains, [](const auto& c) { return draws_of(c) == 0; })) return;
  if (result.chains.front().record.computed) {
    read_kept(rehmc::testing::density_of(kind), columns_of_states(result), result);
  }
  std::optional<rehmc::RunSummary> summary = stored_summary(folder, manifest, result);
  if (summary) summary_json(*summary, manifest.model.name, manifest.seed);
  summary = summarise_job(manifest, result, true);
  summary_json(*summary, manifest.model.name, manifest.seed);
  report_page(result, *summary, {});
  if (summary->from_chunks) return;
  recycled_arrow(result, 1);
  attempt([&] { calibrated_weights(result); });
}

/// The same run as a saved fit, which is edited, too.
void show_fit(const rehmc::RunFolder& folder, const rehmc::Manifest& manifest,
              const std::vector<Edit>& edits) {
  std::string bytes = archive_result(rehmc::load_run(folder, manifest));
  const std::size_t hash = rehmc::content_hash("").size();
  const std::size_t head = bytes.find('\n') + 1;
  std::string content = bytes.substr(head + hash);
  for (const Edit& edit : edits) {
    if (edit.part == Part::fit) apply(edit, content);
  }
  bytes.resize(head);
  rehmc::SampleResult result =
      rehmc::restore_result(bytes + rehmc::content_hash(content) + content);
  rehmc::cut_to_shortest(result);
  if (result.chains.front().record.size() < 4) return;
  report_page(result, summarise_run(result), {});
  attempt([&] { calibrated_weights(result); });
}

void resume(const rehmc::RunFolder& folder, rehmc::Manifest manifest, RunKind kind) {
  rehmc::require_growing_files(folder, manifest);
  manifest.settings.sample.draws += 3;
  const rehmc::Density density = rehmc::testing::density_of(kind);
  rehmc::Job job(density, manifest, folder);
  const std::atomic<int> interrupts = 0;
  job.run(interrupts);
  finish_run(folder, manifest, std::move(job).take_result(), &density);
}

}  // namespace

REHMC_FUZZ(run_folder) {
  static const std::array<rehmc::testing::WrittenRun, rehmc::testing::run_kinds> runs = [] {
    std::array<rehmc::testing::WrittenRun, rehmc::testing::run_kinds> all;
    for (std::size_t k = 0; k < all.size(); ++k) {
      all[k] = rehmc::testing::write_run(static_cast<RunKind>(k), rehmc::fuzz::run_folder());
    }
    return all;
  }();
  const auto kind = static_cast<RunKind>(number(taken(bytes, 1)) % rehmc::testing::run_kinds);
  const rehmc::testing::WrittenRun& run = runs[static_cast<std::size_t>(kind)];
  const rehmc::RunFolder& folder = rehmc::fuzz::run_folder();
  rehmc::testing::restore(folder, run);
  Forgery forgery(folder, run);
  constexpr std::size_t most_edits = 8;
  std::vector<Edit> edits;
  while (!bytes.empty() && edits.size() < most_edits) edits.push_back(read_edit(bytes));
  for (const Edit& edit : edits) {
    attempt([&] {
      std::string part = forgery.of(edit.part);
      apply(edit, part);
      if (!part.empty()) forgery.put(edit.part, part);
    });
  }
  attempt([&] { check_run(folder); });
  attempt([&] { show(folder, run.manifest, kind); });
  attempt([&] { show_fit(folder, run.manifest, edits); });
  resume(folder, run.manifest, kind);
}
