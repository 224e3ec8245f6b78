// Reads a model's data from JSON; every error names file, key, what was found and what is expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

/// A matrix, row by row.
struct DataMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;
};

/// The data of one model: a JSON object whose numbers may also be written NaN, Infinity and
/// -Infinity, bare or as strings, as in Stan. No model here accepts such a number, but the error
/// should name its position. All members throw DataError.
class DataReader {
 public:
  /// The file name is only for messages. Without text there are no data, and every key has its
  /// default. Throws for text that is not JSON, not an object, or has a duplicate or unknown key.
  DataReader(const std::string& text, std::string file, std::vector<std::string> known_keys);
  ~DataReader();
  DataReader(const DataReader&) = delete;
  DataReader& operator=(const DataReader&) = delete;

  bool has(const std::string& key) const;

  /// The key `dimension`; the default if it is missing.
  std::size_t dimension(std::size_t missing, double least = 1);
  /// The key `seed`: any whole number that a double holds exactly.
  std::uint64_t seed(std::uint64_t missing);

  /// An integer; the default if the key is missing.
  std::uint64_t integer(const std::string& key, std::uint64_t missing, const Range& range);
  double number(const std::string& key, double missing, const Range& range);
  /// Numbers in a list that must not be empty; the default if the key is missing.
  std::vector<double> numbers(const std::string& key, std::vector<double> missing,
                              const Range& range);
  /// A list of rows of equal length; the key is required.
  DataMatrix matrix(const std::string& key, const Range& range);
  /// Whole numbers in a list; the key is required.
  std::vector<std::uint64_t> whole_numbers(const std::string& key, const Range& range);
  /// A list of 0 and 1; the key is required.
  std::vector<int> zeros_and_ones(const std::string& key);

  /// If one of the keys is given, all must be; returns whether they are.
  bool all_or_none(const std::vector<std::string>& keys) const;
  /// These keys make no sense together with that one.
  void exclude(const std::string& key, const std::vector<std::string>& others) const;

  /// What `make` returns; the message of a DataError that it throws gets the name of the file. For
  /// data that the models themselves reject.
  template <class Make>
  auto with_file(Make make) const {
    try {
      return make();
    } catch (const DataError& error) {
      throw DataError(file_ + ": " + error.what());
    }
  }

  /// A list of this length must have one number for each row of a matrix.
  void require_length(const std::string& key, std::size_t length, std::size_t rows) const;

  [[noreturn]] void fail(std::string_view place, std::string_view found,
                         std::string_view expected) const;

  /// Everything that was read, including defaults, in the order of reading: equal for equal models,
  /// however their data were written.
  const std::string& canonical() const { return canonical_; }

 private:
  struct Values;  ///< the JSON, whose header is slow to compile
  void note(const std::string& key, const std::vector<double>& values);

  std::string file_;
  std::unique_ptr<Values> values_;
  std::string canonical_;
};

/// The maximum number of coordinates of a model.
inline constexpr double most_coordinates = 1e7;

}  // namespace rehmc
