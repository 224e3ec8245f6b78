// Writes and reads CmdStan's metric files.
#include "rehmc/output/metric_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "metric_type.hpp"
#include "number_text.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/core/json_depth.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::json;

void append_array(std::string& to, std::span<const double> numbers) {
  to += '[';
  for (const double number : numbers) {
    append_number(to, number);
    to += ',';
  }
  to.back() = ']';
}

/// A JSON value for a message: short ones as they are, others by their shape.
std::string shown(const Json& value) {
  if (value.is_array()) return fmt::format("an array of {}", value.size());
  if (value.is_object()) return "an object";
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 40) + "...";
}

class MetricFile {
 public:
  MetricFile(const std::filesystem::path& path, std::size_t dimension)
      : path_(path), dimension_(dimension) {
    if (!std::filesystem::is_regular_file(path)) {
      throw NoInputError(
          fmt::format("{}: cannot be opened; expected a metric file (JSON)", path.string()));
    }
    const std::string text = read_file(path);
    require_json_depth(text, path.string());
    try {
      json_ = Json::parse(text);
    } catch (const Json::parse_error& error) {
      fail(fmt::format("not JSON (at byte {}); expected {{\"inv_metric\": [...]}}", error.byte));
    } catch (const Json::exception& error) {  // a number that no double holds
      fail(fmt::format("cannot be read as JSON ({})", error.what()));
    }
    if (!json_.is_object() || !json_.contains("inv_metric")) {
      fail(fmt::format("no key 'inv_metric' (found {}); expected {{\"inv_metric\": [...]}}",
                       keys_found()));
    }
  }

  std::optional<double> step_size() const {
    if (!json_.contains("stepsize")) return std::nullopt;
    const Json& size = json_["stepsize"];
    if (!size.is_number() || !(size.get<double>() > 0) || !std::isfinite(size.get<double>())) {
      fail(fmt::format("key 'stepsize': found {}, expected a positive number", shown(size)));
    }
    return size.get<double>();
  }

  std::shared_ptr<const Metric> metric() const {
    const Json& entries = json_["inv_metric"];
    if (!entries.is_array()) {
      fail(
          fmt::format("key 'inv_metric': found {}, expected an array of {} variances or of {} rows",
                      shown(entries), dimension_, dimension_));
    }
    const bool dense = !entries.empty() && entries.front().is_array();
    check_type(dense);
    require_size(entries, "", dense ? "rows" : "numbers");
    try {
      if (dense) return make_dense_metric(dimension_, matrix(entries));
      if (json_.value("metric_type", Json()) == "unit_e") return make_unit_metric(dimension_);
      return make_diagonal_metric(vector(entries, ""));
    } catch (const ConfigError& error) {
      fail(fmt::format("key 'inv_metric': {}", error.what()));
    }
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw DataError(fmt::format("{}: {}", path_.string(), what));
  }

  std::string keys_found() const {
    if (!json_.is_object()) return shown(json_);
    std::string keys;
    for (const auto& [key, value] : json_.items()) {
      keys += (keys.empty() ? "'" : ", '") + key.substr(0, 40) + "'";
    }
    return keys.empty() ? "no keys" : keys;
  }

  void check_type(bool dense) const {
    if (!json_.contains("metric_type")) return;
    const Json& type = json_["metric_type"];
    if (type != "unit_e" && type != "diag_e" && type != "dense_e") {
      fail(
          fmt::format("key 'metric_type': found {}, expected \"unit_e\", \"diag_e\" or \"dense_e\"",
                      shown(type)));
    }
    if (dense != (type == "dense_e")) {
      fail(fmt::format("key 'inv_metric': found {}, expected {} since 'metric_type' is {}",
                       dense ? "rows" : "numbers", dense ? "numbers" : "rows", shown(type)));
    }
  }

  void require_size(const Json& array, std::string_view place, std::string_view what) const {
    if (array.size() == dimension_) return;
    fail(fmt::format("key 'inv_metric'{}: found {} {}, expected {}, the dimension of the model",
                     place, array.size(), what, dimension_));
  }

  std::vector<double> vector(const Json& array, std::string_view place) const {
    std::vector<double> numbers;
    for (const Json& entry : array) {
      if (!entry.is_number()) {
        fail(fmt::format("key 'inv_metric'{}, entry {}: found {}, expected a number", place,
                         numbers.size() + 1, shown(entry)));
      }
      numbers.push_back(entry.get<double>());
    }
    return numbers;
  }

  std::vector<double> matrix(const Json& rows) const {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string place = fmt::format(", row {}", i + 1);
      if (!rows[i].is_array()) {
        fail(fmt::format("key 'inv_metric'{}: found {}, expected an array", place, shown(rows[i])));
      }
      require_size(rows[i], place, "numbers");
      const std::vector<double> row = vector(rows[i], place);
      numbers.insert(numbers.end(), row.begin(), row.end());
    }
    return numbers;
  }

  std::filesystem::path path_;
  std::size_t dimension_;
  Json json_;
};

}  // namespace

std::string metric_json(const Tuning& tuning) {
  const Metric& metric = *tuning.metric;
  const std::string_view type = stan_metric_type(metric.kind());
  std::string text = "{\"stepsize\":";
  append_number(text, tuning.step_size);
  text += fmt::format(",\"metric_type\":\"{}\",\"inv_metric\":", type);
  if (type == "dense_e") {
    const std::size_t d = metric.dimension();
    const std::vector<double> matrix = full_inverse_mass(metric);
    text += '[';
    for (std::size_t i = 0; i < d; ++i) {
      append_array(text, std::span(matrix).subspan(i * d, d));
      text += ',';
    }
    text.back() = ']';
  } else {
    append_array(text, metric.inverse_diagonal());
  }
  return text + "}\n";
}

void MetricSink::begin(const SamplingStart& start) {
  const std::string text = metric_json(start.tuning);
  write_whole(path_, text);
  hash_ = content_hash(text);
}

std::shared_ptr<const Metric> read_metric_file(const std::filesystem::path& path,
                                               std::size_t dimension) {
  return MetricFile(path, dimension).metric();
}

std::optional<double> read_metric_step_size(const std::filesystem::path& path,
                                            std::size_t dimension) {
  return MetricFile(path, dimension).step_size();
}

}  // namespace rehmc
