// Reads a model's data from JSON.
#include "models/data_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/json_depth.hpp"
#include "rehmc/core/quoted_json.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc {
namespace {

using nlohmann::json;

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", line, before.size() - begin + 1);
}

/// The parser's message, without its own position.
std::string cause(const json::parse_error& error) {
  std::string text = error.what();
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

/// Short enough for a message.
std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return fmt::format("a list of length {}", value.size());
  constexpr std::size_t longest = 40;
  // Bytes that are not UTF-8 must not make the message itself fail.
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return value.is_string() ? "the string " + text : text;
}

/// The strings that Stan's JSON uses for numbers that JSON does not have.
std::optional<double> special_number(const json& value) {
  if (!value.is_string()) return std::nullopt;
  std::string word = value.get<std::string>();
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.erase(0, 1);
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word != "inf" && word != "infinity") return std::nullopt;
  return negative ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::infinity();
}

/// The shortest form that reads back to the same number.
std::string exact(double value) { return fmt::format("{}", value); }

double number_at(const DataReader& data, const json& value, const std::string& place,
                 const Range& range) {
  const std::optional<double> special = special_number(value);
  if (!value.is_number() && !special) {
    data.fail(place, shown(value), "a number " + range.describe());
  }
  const double number = special ? *special : value.get<double>();
  if (!std::isfinite(number)) data.fail(place, exact(number), "a finite number");
  if (!range.contains(number)) data.fail(place, shown(value), "a number " + range.describe());
  return number;
}

const json& list_at(const DataReader& data, const json& value, const std::string& place,
                    std::string_view expected) {
  if (!value.is_array() || value.empty()) data.fail(place, shown(value), expected);
  return value;
}

}  // namespace

struct DataReader::Values {
  json object = json::object();
};

DataReader::DataReader(const std::string& text, std::string file,
                       std::vector<std::string> known_keys)
    : file_(std::move(file)), values_(std::make_unique<Values>()) {
  if (file_.empty()) return;
  require_json_depth(text, file_);
  const QuotedJson quoted(text);
  std::set<std::string> seen;
  const auto watch_keys = [&](int depth, json::parse_event_t event, json& value) {
    if (depth == 1 && event == json::parse_event_t::key &&
        !seen.insert(value.get<std::string>()).second) {
      fail(value.get<std::string>(), "the key twice", "each key once");
    }
    return true;
  };
  try {
    values_->object = json::parse(quoted.text(), watch_keys);
  } catch (const json::parse_error& error) {
    // The parser counts bytes from 1.
    const std::size_t byte = quoted.original(error.byte > 0 ? error.byte - 1 : 0);
    throw DataError(
        fmt::format("{} is not JSON, at {}: {}", file_, line_and_column(text, byte), cause(error)));
  } catch (const json::exception& error) {
    throw DataError(fmt::format("{} cannot be read as JSON: {}", file_, error.what()));
  }
  const json& found = values_->object;
  if (!found.is_object()) {
    throw DataError(fmt::format("{}: found {}, expected an object such as {{\"{}\": ...}}", file_,
                                shown(found), known_keys.empty() ? "key" : known_keys.front()));
  }
  for (const auto& [key, value] : found.items()) {
    if (std::find(known_keys.begin(), known_keys.end(), key) != known_keys.end()) continue;
    const std::string suggestion = did_you_mean(key, known_keys);
    throw DataError(fmt::format("{}: unknown key '{}'{} Known keys: {}.", file_, key,
                                suggestion.empty() ? "." : suggestion,
                                fmt::join(known_keys, ", ")));
  }
}

DataReader::~DataReader() = default;

bool DataReader::has(const std::string& key) const { return values_->object.contains(key); }

std::size_t DataReader::dimension(std::size_t missing, double least) {
  return integer("dimension", missing, between(least, most_coordinates));
}

std::uint64_t DataReader::seed(std::uint64_t missing) {
  constexpr double largest_exact = 9007199254740991.0;
  return integer("seed", missing, between(0, largest_exact));
}

void DataReader::require_length(const std::string& key, std::size_t length,
                                std::size_t rows) const {
  if (length == rows) return;
  fail(key, fmt::format("a list of length {}", length),
       fmt::format("{} numbers, one for each row", rows));
}

void DataReader::fail(std::string_view place, std::string_view found,
                      std::string_view expected) const {
  throw DataError(fmt::format("{}: {}: found {}, expected {}", file_, place, found, expected));
}

bool DataReader::all_or_none(const std::vector<std::string>& keys) const {
  const auto given = std::find_if(keys.begin(), keys.end(), [&](auto& key) { return has(key); });
  if (given == keys.end()) return false;
  for (const std::string& key : keys) {
    if (!has(key)) fail(key, "no such key", fmt::format("one, since '{}' is given", *given));
  }
  return true;
}

void DataReader::exclude(const std::string& key, const std::vector<std::string>& others) const {
  for (const std::string& other : others) {
    if (has(key) && has(other))
      fail(other, "the key together with '" + key + "'", "only one of the two");
  }
}

void DataReader::note(const std::string& key, const std::vector<double>& values) {
  canonical_ += key + "=";
  for (const double value : values) canonical_ += exact(value) + ",";
  canonical_ += ";";
}

std::uint64_t DataReader::integer(const std::string& key, std::uint64_t missing,
                                  const Range& range) {
  std::uint64_t result = missing;
  if (has(key)) {
    const json& value = values_->object.at(key);
    const double number = number_at(*this, value, key, range);
    const bool fits = value.is_number_unsigned() || number < 0x1p64;
    if (number != std::floor(number) || !fits) {
      fail(key, shown(value), "a whole number " + range.describe());
    }
    result = value.is_number_unsigned() ? value.get<std::uint64_t>()
                                        : static_cast<std::uint64_t>(number);
  }
  canonical_ += fmt::format("{}={};", key, result);
  return result;
}

double DataReader::number(const std::string& key, double missing, const Range& range) {
  const double result = has(key) ? number_at(*this, values_->object.at(key), key, range) : missing;
  note(key, {result});
  return result;
}

std::vector<double> DataReader::numbers(const std::string& key, std::vector<double> missing,
                                        const Range& range) {
  std::vector<double> result = std::move(missing);
  if (has(key)) {
    const json& values = list_at(*this, values_->object.at(key), key, "a list of numbers");
    result.clear();
    result.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      result.push_back(number_at(*this, values[i], fmt::format("{}[{}]", key, i + 1), range));
    }
  }
  note(key, result);
  return result;
}

DataMatrix DataReader::matrix(const std::string& key, const Range& range) {
  const std::string_view expected = "a list of rows, each a list of numbers";
  const json& rows = list_at(*this, values_->object.at(key), key, expected);
  DataMatrix result{.rows = rows.size(), .columns = 0, .values = {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", key, i + 1);
    const json& row = list_at(*this, rows[i], place, "a row: a list of numbers");
    if (i == 0) result.columns = row.size();
    if (row.size() != result.columns) {
      fail(place, fmt::format("a row of length {}", row.size()),
           fmt::format("{} numbers as in the first row", result.columns));
    }
    for (std::size_t j = 0; j < row.size(); ++j) {
      result.values.push_back(number_at(*this, row[j], fmt::format("{}[{}]", place, j + 1), range));
    }
  }
  canonical_ += fmt::format("{}x{}:", result.rows, result.columns);
  note(key, result.values);
  return result;
}

std::vector<std::uint64_t> DataReader::whole_numbers(const std::string& key, const Range& range) {
  std::vector<std::uint64_t> result;
  for (const double value : numbers(key, {}, range)) {
    if (value != std::floor(value)) {
      fail(fmt::format("{}[{}]", key, result.size() + 1), exact(value),
           "a whole number " + range.describe());
    }
    result.push_back(static_cast<std::uint64_t>(value));
  }
  return result;
}

std::vector<int> DataReader::zeros_and_ones(const std::string& key) {
  std::vector<int> result;
  for (const double value : numbers(key, {}, between(0, 1))) {
    if (value != 0 && value != 1) {
      fail(fmt::format("{}[{}]", key, result.size() + 1), exact(value), "0 or 1");
    }
    result.push_back(static_cast<int>(value));
  }
  return result;
}

}  // namespace rehmc
