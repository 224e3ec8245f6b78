// Writes recycled states, one line each.
#include "rehmc/output/recycled_csv.hpp"

#include <cmath>
#include <optional>

#include "number_text.hpp"
#include "rehmc/core/numerics.hpp"

namespace rehmc {

std::string recycled_csv_head(const std::vector<std::string>& names) {
  std::string head = "chain__,iter__,slot__,log_weight__";
  for (const std::string& name : names) (head += ',') += name;
  return head + '\n';
}

void append_recycled_rows(std::string& to, const ReadDraw& draw, std::uint64_t index, int chain) {
  for (std::size_t i = 0; i < draw.kept.size(); ++i) {
    append_number(to, chain);
    to += ',';
    append_number(to, index + 1);
    to += ',';
    append_number(to, i + 1);
    to += ',';
    append_number(to, std::log(draw.kept[i].weight));
    for (const double value : draw.kept[i].state.position) {
      to += ',';
      append_number(to, value);
    }
    to += '\n';
  }
}

std::string recycled_csv(const SampleResult& result, std::size_t chain, std::uint64_t thin,
                         std::span<const double> calibrated) {
  const ChainRecord& record = result.chains[chain].record;
  std::vector<std::optional<std::size_t>> places;
  for (std::size_t i = 0; i < record.dimension(); ++i) places.push_back(record.kept_place(i));
  std::vector<std::string> names = result.names;
  if (!calibrated.empty()) names.emplace_back("calibrated_log_weight__");
  std::string text = recycled_csv_head(names);
  std::vector<std::vector<double>> values;
  std::vector<WeightedState> kept;
  ReadDraw draw;
  for (std::size_t i = 0; i < record.size(); i += thin) {
    values.clear();
    kept.clear();
    for (std::size_t k = record.kept_begin(i); k < record.kept_begin(i + 1); ++k) {
      std::vector<double>& row = values.emplace_back();
      for (const auto& place : places) {
        row.push_back(place ? record.kept[k * record.kept_dimension() + *place] : nan_value);
      }
      if (!calibrated.empty()) row.push_back(std::log(calibrated[k]));
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      kept.push_back({{values[k], {}, 0}, record.kept_weight[record.kept_begin(i) + k]});
    }
    draw.kept = kept;
    append_recycled_rows(text, draw, i, static_cast<int>(chain) + 1);
  }
  return text;
}

RecycledCsvSink::RecycledCsvSink(const std::filesystem::path& path,
                                 const std::vector<std::string>& names, int chain,
                                 std::uint64_t thin)
    : file_(path), chain_(chain), thin_(thin) {
  file_.waiting() += recycled_csv_head(names);
}

RecycledCsvSink::RecycledCsvSink(const std::filesystem::path& path, const FileSeal& seal, int chain,
                                 std::uint64_t thin)
    : file_(path, seal), chain_(chain), thin_(thin) {}

void RecycledCsvSink::add(const ReadDraw& draw, std::uint64_t index) {
  if (index % thin_ == 0) append_recycled_rows(file_.waiting(), draw, index, chain_);
}

}  // namespace rehmc
