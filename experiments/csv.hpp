// Small tables in CSV files, read and written by the names of their columns.
#pragma once

#include <concepts>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rehmc::experiments {

/// One cell of a table: its text as the file has it.
struct Cell {
  Cell(std::string value) : text(std::move(value)) {}
  Cell(std::string_view value) : text(value) {}
  Cell(const char* value) : text(value) {}
  /// At most 6 significant digits.
  Cell(std::floating_point auto value) : text(of_real(static_cast<double>(value))) {}
  /// All digits.
  Cell(std::integral auto value) : text(std::to_string(value)) {}

  std::string text;

 private:
  static std::string of_real(double value);
};

/// Rows of cells under named columns.
class Table {
 public:
  explicit Table(std::vector<std::string> columns);
  /// NoInputError if the file does not exist; DataError with file and line if it is not a table.
  static Table read(const std::filesystem::path& path);
  /// The file is written completely or not at all.
  void write(const std::filesystem::path& path) const;

  /// One cell per column; std::logic_error otherwise.
  void append(std::vector<Cell> row);

  /// Takes over the rows of a file that this table says nothing about: rows whose cells under
  /// `keys` no row here has, and which are not stale. Rows that replace others stand in their
  /// place. Nothing happens if there is no such file; DataError if it has other columns.
  void keep_others(const std::filesystem::path& path, const std::vector<std::string>& keys,
                   const std::function<bool(const Table& old, std::size_t row)>& stale);

  std::size_t rows() const { return rows_.size(); }

  /// A cell, rows counted from 0. DataError names file, row and column if the column does not
  /// exist, or if a cell is not a number where one is expected; "nan" and "inf" are numbers.
  const std::string& text(std::size_t row, std::string_view column) const;
  double number(std::size_t row, std::string_view column) const;
  /// A whole column.
  std::vector<double> numbers(std::string_view column) const;

 private:
  std::size_t index_of(std::string_view column) const;

  std::string source_ = "this table";  ///< the file it was read from, for messages
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rehmc::experiments
