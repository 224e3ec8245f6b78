// Small tables in CSV files: quoting as in RFC 4180, errors that name file, row and column.
#include "experiments/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/suggest.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc::experiments {
namespace {

void append_field(std::string& out, const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char letter : text) {
    if (letter == '"') out += '"';
    out += letter;
  }
  out += '"';
}

void append_line(std::string& out, const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    append_field(out, fields[i]);
  }
  out += '\n';
}

/// Reads a file record by record; a quoted field may span several lines.
class Reader {
 public:
  Reader(std::string_view text, std::string source) : rest_(text), source_(std::move(source)) {}

  bool at_end() const { return rest_.empty(); }
  /// The line on which the last record began, counted from 1.
  std::size_t line() const { return line_; }

  std::vector<std::string> record() {
    line_ = next_line_;
    std::vector<std::string> fields;
    do {
      fields.push_back(starts_with('"') ? quoted() : plain());
    } while (take(','));
    if (!at_end() && !take('\n')) {
      throw DataError(
          fmt::format("{}, line {}: text after a closing quote; a quoted field must be followed "
                      "by a comma or the end of the line",
                      source_, line_));
    }
    ++next_line_;
    return fields;
  }

 private:
  bool starts_with(char letter) const { return !rest_.empty() && rest_.front() == letter; }

  bool take(char letter) {
    if (letter == '\n' && rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    if (!starts_with(letter)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string plain() {
    std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    std::string field(rest_.substr(0, end));
    rest_.remove_prefix(end);
    if (field.ends_with('\r')) field.pop_back();
    return field;
  }

  std::string quoted() {
    std::string field;
    rest_.remove_prefix(1);
    for (;;) {
      if (at_end()) {
        throw DataError(
            fmt::format("{}, line {}: a quote is opened and never closed", source_, line_));
      }
      const char letter = rest_.front();
      rest_.remove_prefix(1);
      if (letter == '"' && !take('"')) return field;
      if (letter == '\n') ++next_line_;
      field += letter;
    }
  }

  std::string_view rest_;
  std::string source_;
  std::size_t line_ = 1;
  std::size_t next_line_ = 1;
};

}  // namespace

std::string Cell::of_real(double value) { return fmt::format("{:.6g}", value); }

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

Table Table::read(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  Reader reader(text, path.string());
  Table table(reader.record());
  table.source_ = path.string();
  std::set<std::string> seen;
  for (const std::string& column : table.columns_) {
    if (column.empty() || !seen.insert(column).second) {
      throw DataError(fmt::format(
          "{}, line 1: {}; every column needs its own name", path.string(),
          column.empty() ? "a column without a name" : fmt::format("two columns '{}'", column)));
    }
  }
  while (!reader.at_end()) {
    std::vector<std::string> row = reader.record();
    if (row.size() != table.columns_.size()) {
      throw DataError(fmt::format("{}, line {}: {} fields, expected one for each of {} columns",
                                  path.string(), reader.line(), row.size(), table.columns_.size()));
    }
    table.rows_.push_back(std::move(row));
  }
  return table;
}

void Table::write(const std::filesystem::path& path) const {
  std::string text;
  append_line(text, columns_);
  for (const std::vector<std::string>& row : rows_) append_line(text, row);
  write_whole(path, text);
}

void Table::append(std::vector<Cell> row) {
  if (row.size() != columns_.size()) {
    throw std::logic_error(
        fmt::format("a row of {} cells for {} columns", row.size(), columns_.size()));
  }
  std::vector<std::string>& texts = rows_.emplace_back();
  texts.reserve(row.size());
  for (Cell& cell : row) texts.push_back(std::move(cell.text));
}

void Table::keep_others(const std::filesystem::path& path, const std::vector<std::string>& keys,
                        const std::function<bool(const Table& old, std::size_t row)>& stale) {
  if (!std::filesystem::exists(path)) return;
  const Table old = read(path);
  if (old.columns_ != columns_) {
    throw DataError(
        fmt::format("{} was written by another version: it has other columns, so that its rows "
                    "cannot be kept; choose another folder, or remove the file",
                    path.string()));
  }
  const auto group_of = [&](const Table& table, std::size_t row) {
    std::vector<std::string> group;
    for (const std::string& key : keys) group.push_back(table.text(row, key));
    return group;
  };
  std::map<std::vector<std::string>, std::vector<std::size_t>> mine;
  for (std::size_t row = 0; row < rows(); ++row) mine[group_of(*this, row)].push_back(row);
  std::vector<std::vector<std::string>> merged;
  std::set<std::vector<std::string>> placed;
  const auto place = [&](const std::vector<std::string>& group) {
    if (!placed.insert(group).second) return;
    for (const std::size_t row : mine.at(group)) merged.push_back(rows_[row]);
  };
  for (std::size_t row = 0; row < old.rows(); ++row) {
    const std::vector<std::string> group = group_of(old, row);
    if (mine.contains(group)) {
      place(group);
    } else if (!stale(old, row)) {
      merged.push_back(old.rows_[row]);
    }
  }
  for (std::size_t row = 0; row < rows(); ++row) place(group_of(*this, row));
  rows_ = std::move(merged);
}

const std::string& Table::text(std::size_t row, std::string_view column) const {
  return rows_.at(row)[index_of(column)];
}

double Table::number(std::size_t row, std::string_view column) const {
  const std::string& text = this->text(row, column);
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    throw DataError(
        fmt::format("{}, row {}, column {}: '{}' is not a number", source_, row + 1, column, text));
  }
  return value;
}

std::vector<double> Table::numbers(std::string_view column) const {
  std::vector<double> values;
  values.reserve(rows());
  for (std::size_t row = 0; row < rows(); ++row) values.push_back(number(row, column));
  return values;
}

std::size_t Table::index_of(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) {
    throw DataError(
        fmt::format("{} has no column '{}'{}", source_, column, did_you_mean(column, columns_)));
  }
  return static_cast<std::size_t>(found - columns_.begin());
}

}  // namespace rehmc::experiments
