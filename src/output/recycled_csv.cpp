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

void append_recycled_rows(std::string& to, const ChainRecord& record, std::size_t draw, int chain) {
  const std::size_t d = record.dimension();
  const std::size_t begin = record.kept_begin(draw);
  const std::size_t end = record.kept_begin(draw + 1);
  for (std::size_t i = begin; i < end; ++i) {
    append_number(to, chain);
    to += ',';
    append_number(to, draw + 1);
    to += ',';
    append_number(to, i - begin + 1);
    to += ',';
    append_number(to, std::log(record.kept_weight[i]));
    for (const double value : std::span(record.kept).subspan(i * d, d)) {
      to += ',';
      append_number(to, value);
    }
    to += '\n';
  }
}

}  // namespace rehmc
