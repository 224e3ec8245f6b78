// Writes recycled states, one line each.
#include "rehmc/output/recycled_csv.hpp"

#include <cmath>

#include "number_text.hpp"

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
