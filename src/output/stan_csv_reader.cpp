// Reads Stan CSV from any program; errors name exactly what is wrong.
#include "rehmc/output/stan_csv_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"

namespace rehmc {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// A number and nothing else; nan and inf in any spelling that Stan, R or Python uses.
std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  if (text == "NA") return nan_value;
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {
    // Too small or too large for a double: the result of strtod is as close as possible.
    number = std::strtod(std::string(text).c_str(), nullptr);
  } else if (error != std::errc{}) {
    return std::nullopt;
  }
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

template <class Visitor>
void for_each_field(std::string_view line, const Visitor& visit) {
  while (true) {
    const std::size_t comma = line.find(',');
    visit(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

/// An excerpt of a line for a message, however long or strange the line is.
std::string excerpt(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown(text.substr(0, most));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > most ? shown + "..." : shown;
}

/// Indices of the columns that rehmc knows; -1 if missing.
struct SamplerColumns {
  int log_density = -1, acceptance = -1, step_size = -1, depth = -1, leapfrogs = -1, divergent = -1,
      energy = -1, path_length = -1, energy_error = -1, depth_limit = -1, mass = -1;
};

constexpr std::array<std::pair<std::string_view, int SamplerColumns::*>, 11> known_columns{{
    {"lp__", &SamplerColumns::log_density},
    {"accept_stat__", &SamplerColumns::acceptance},
    {"stepsize__", &SamplerColumns::step_size},
    {"treedepth__", &SamplerColumns::depth},
    {"n_leapfrog__", &SamplerColumns::leapfrogs},
    {"divergent__", &SamplerColumns::divergent},
    {"energy__", &SamplerColumns::energy},
    {"int_time__", &SamplerColumns::path_length},
    {"energy_error__", &SamplerColumns::energy_error},
    {"max_depth_hit__", &SamplerColumns::depth_limit},
    {"mass__", &SamplerColumns::mass},
}};

/// One file, read line by line.
class StanCsvFile {
 public:
  explicit StanCsvFile(const std::filesystem::path& path) : path_(path) {
    std::ifstream in(path, std::ios::binary);
    if (!in || std::filesystem::is_directory(path)) {
      throw Error(ExitCode::no_input,
                  fmt::format("{}: cannot be opened; expected a Stan CSV file", path.string()));
    }
    std::string line;
    while (std::getline(in, line)) {
      ++line_number_;
      ended_by_newline_ = !in.eof();
      read_line(line);
    }
    if (in.bad()) fail("could not be read to the end");
    finish();
  }

  const std::vector<std::string>& header() const { return header_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::filesystem::path& path() const { return path_; }
  ChainResult& chain() { return chain_; }

  KernelSettings kernel() const {
    KernelSettings kernel;
    kernel.recycling = {RecyclingKind::none, 0};
    const bool path = config("engine") == "static";
    kernel.kind = first_kernel(path ? TrajectoryShape::path : TrajectoryShape::tree);
    // Our own files name the kernel; others do not.
    if (const auto named = find_kernel(config("kernel"))) kernel.kind = *named;
    kernel.nuts.max_depth = max_depth();
    if (const auto length = number_in(config("int_time"))) kernel.hmc.path_length = *length;
    return kernel;
  }
  std::uint64_t seed() const {
    const std::string_view text = config("seed");
    std::uint64_t seed = 0;
    std::from_chars(text.data(), text.data() + text.size(), seed);
    return seed;
  }

 private:
  enum class Block { config, rows, adaptation, diagonal, dense };

  [[noreturn]] void fail(std::string_view what) const {
    throw DataError(fmt::format("{}: {}", path_.string(), what));
  }
  [[noreturn]] void fail_here(std::string_view what) const {
    throw DataError(fmt::format("{}: line {}: {}", path_.string(), line_number_, what));
  }

  /// The value of a setting, or nothing.
  std::string_view config(const std::string& key) const {
    const auto found = config_.find(key);
    return found == config_.end() ? std::string_view{} : std::string_view(found->second);
  }
  int max_depth() const {
    for (const char* key : {"max_depth", "max_treedepth"}) {
      if (const auto depth = number_in(config(key))) return static_cast<int>(*depth);
    }
    return NutsSettings{}.max_depth;
  }
  std::size_t count_in_config(const std::string& key, std::size_t otherwise) const {
    const auto count = number_in(config(key));
    return count && *count >= 0 ? static_cast<std::size_t>(*count) : otherwise;
  }

  void read_line(std::string_view line) {
    const std::string_view text = trimmed(line);
    if (text.empty()) return;
    if (text.front() == '#') {
      read_comment(trimmed(text.substr(1)));
    } else if (header_.empty()) {
      read_header(text);
    } else {
      read_row(text);
    }
  }

  void read_comment(std::string_view text) {
    if (text.starts_with("Adaptation terminated")) {
      block_ = Block::adaptation;
      begin_sampling();
    } else if (text.ends_with("seconds (Warm-up)")) {
      chain_.seconds_warmup = seconds_in(text);
      block_ = Block::rows;
    } else if (text.ends_with("seconds (Sampling)")) {
      chain_.seconds_sampling = seconds_in(text);
    } else if (block_ == Block::config) {
      read_setting(text);
    } else if (block_ != Block::rows) {
      read_tuning(text);
    }
  }

  static double seconds_in(std::string_view text) {
    text = text.substr(0, text.rfind(" seconds"));
    return number_in(text.substr(text.find_last_of(" :") + 1)).value_or(nan_value);
  }

  void read_setting(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return;
    std::string_view value = trimmed(text.substr(equals + 1));
    constexpr std::string_view untouched = "(Default)";
    if (value.ends_with(untouched))
      value = trimmed(value.substr(0, value.size() - untouched.size()));
    config_[std::string(trimmed(text.substr(0, equals)))] = value;
  }

  void read_tuning(std::string_view text) {
    constexpr std::string_view step_size = "Step size =";
    if (text.starts_with(step_size)) {
      const auto size = number_in(text.substr(step_size.size()));
      if (!size || !(*size > 0) || !std::isfinite(*size)) {
        fail_here(fmt::format("step size is '{}', expected a positive number",
                              excerpt(trimmed(text.substr(step_size.size())))));
      }
      chain_.tuning.step_size = *size;
    } else if (text.starts_with("Diagonal elements of inverse mass matrix")) {
      block_ = Block::diagonal;
    } else if (text.starts_with("Elements of inverse mass matrix")) {
      block_ = Block::dense;
    } else if (block_ == Block::diagonal || block_ == Block::dense) {
      read_metric_row(text);
    }
  }

  void read_metric_row(std::string_view text) {
    if (text.empty()) return;
    const std::size_t before = metric_.size();
    for_each_field(text, [&](std::string_view field) {
      const auto number = number_in(field);
      if (!number) {
        fail_here(fmt::format("inverse mass matrix: found '{}', expected a number",
                              excerpt(trimmed(field))));
      }
      metric_.push_back(*number);
    });
    const std::size_t width = metric_.size() - before;
    if (metric_rows_++ == 0) metric_width_ = width;
    if (width != metric_width_) {
      fail_here(
          fmt::format("inverse mass matrix: found a row of {}, expected {}", width, metric_width_));
    }
    const bool whole = block_ == Block::diagonal || metric_rows_ == metric_width_;
    if (!whole) return;
    try {
      chain_.tuning.metric = block_ == Block::diagonal ? make_diagonal_metric(metric_)
                                                       : make_dense_metric(metric_width_, metric_);
    } catch (const ConfigError& error) {
      fail_here(error.what());
    }
    block_ = Block::rows;
  }

  void read_header(std::string_view text) {
    block_ = Block::rows;
    for_each_field(text, [&](std::string_view field) { header_.emplace_back(trimmed(field)); });
    for (std::size_t i = 0; i < header_.size(); ++i) read_column_name(static_cast<int>(i));
    if (columns_.log_density < 0) {
      fail_here(
          fmt::format("found '{}', expected a line of column names that includes lp__: this is not "
                      "a Stan CSV file of draws",
                      excerpt(text)));
    }
    if (const auto method = config("method"); !method.empty() && method != "sample") {
      fail(fmt::format("written by method = {}, expected draws of method = sample",
                       excerpt(method)));
    }
    if (names_.empty()) fail_here("found only the sampler's columns, expected parameters");
    std::vector<std::string> sorted = header_;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      fail_here(
          fmt::format("column '{}' appears twice, expected different names", excerpt(*twice)));
    }
    prepare(chain_.record);
    prepare(chain_.warmup);
  }

  void read_column_name(int column) {
    const std::string& name = header_[static_cast<std::size_t>(column)];
    if (name.empty()) {
      fail_here(fmt::format("column {} has no name, expected one", column + 1));
    }
    if (!name.ends_with("__")) {
      names_.push_back(name);
      is_parameter_.push_back(true);
      return;
    }
    is_parameter_.push_back(false);
    for (const auto& [known, place] : known_columns) {
      if (name == known) columns_.*place = column;
    }
  }

  void prepare(ChainRecord& record) const {
    record.centre.assign(names_.size(), 0.0);
    record.columns.resize(names_.size());
    std::iota(record.columns.begin(), record.columns.end(), std::size_t{0});
  }

  void read_row(std::string_view text) {
    block_ = Block::rows;
    row_.clear();
    for_each_field(text, [&](std::string_view field) {
      const auto number = number_in(field);
      if (!number && row_.size() < header_.size()) {
        refuse_cut_row();
        fail_here(fmt::format("column {} ({}): found '{}', expected a number", row_.size() + 1,
                              header_[row_.size()], excerpt(trimmed(field))));
      }
      row_.push_back(number.value_or(nan_value));
    });
    refuse_cut_row();
    if (row_.size() != header_.size()) {
      fail_here(
          fmt::format("found {} columns, expected {} as in the line of names; was the file "
                      "cut short?",
                      row_.size(), header_.size()));
    }
    add_row();
  }

  /// The last number of an unterminated line may lack digits without any sign of it.
  void refuse_cut_row() const {
    if (ended_by_newline_) return;
    fail_here(
        fmt::format("the file ends within this line (column {} of {}), expected a line "
                    "break: it was cut short; delete the line to use the rows before it",
                    row_.size(), header_.size()));
  }

  double in_row(int column, double otherwise) const {
    return column < 0 ? otherwise : row_[static_cast<std::size_t>(column)];
  }

  double count_in_row(int column, double most) const {
    const double count = in_row(column, 0);
    if (count >= 0 && count <= most && count == std::floor(count)) return count;
    fail_here(fmt::format("column {} ({}): found {}, expected a whole number from 0 to {}",
                          column + 1, header_[static_cast<std::size_t>(column)], count, most));
  }

  void add_row() {
    ChainRecord& record = chain_.record;
    for (std::size_t i = 0; i < row_.size(); ++i) {
      if (is_parameter_[i]) record.draws.push_back(row_[i]);
    }
    const double step_size = in_row(columns_.step_size, nan_value);
    record.log_density.push_back(in_row(columns_.log_density, nan_value));
    record.acceptance.push_back(in_row(columns_.acceptance, nan_value));
    record.step_size.push_back(step_size);
    record.energy.push_back(in_row(columns_.energy, nan_value));
    record.energy_error.push_back(in_row(columns_.energy_error, nan_value));
    record.mass.push_back(in_row(columns_.mass, 1));
    record.depth.push_back(static_cast<int>(count_in_row(columns_.depth, 1000)));
    const double length = in_row(columns_.path_length, nan_value);
    double leapfrogs = count_in_row(columns_.leapfrogs, std::numeric_limits<std::uint32_t>::max());
    if (columns_.leapfrogs < 0 && length > 0 && step_size > 0) {
      // Static HMC of Stan: as many steps as fit into the time, but at least one.
      leapfrogs = std::clamp(std::floor(length / step_size), 1.0, 1e9);
    }
    record.leapfrogs.push_back(static_cast<std::uint32_t>(leapfrogs));
    record.path_length.push_back(columns_.path_length < 0 ? leapfrogs * step_size : length);
    record.ending.push_back(ending());
  }

  Ending ending() const {
    if (count_in_row(columns_.divergent, 1) == 1) return Ending::diverged;
    if (columns_.depth < 0 || config("engine") == "static") return Ending::completed;
    const bool cut = columns_.depth_limit < 0 ? in_row(columns_.depth, 0) >= max_depth()
                                              : count_in_row(columns_.depth_limit, 1) == 1;
    return cut ? Ending::depth_limit : Ending::turned;
  }

  /// All rows so far were warmup.
  void begin_sampling() {
    if (header_.empty())
      fail_here("found the end of adaptation, expected a line of column names first");
    if (chain_.warmup.size() > 0) fail_here("found the end of adaptation for a second time");
    std::swap(chain_.record, chain_.warmup);
    adapted_ = true;
  }

  void finish() {
    if (line_number_ == 0) fail("the file is empty, expected Stan CSV");
    if (header_.empty())
      fail("found only comments, expected a line of column names that includes lp__");
    if (!adapted_) split_by_settings();
    if (chain_.record.size() == 0) {
      fail(fmt::format("found no draws{}, expected rows of numbers",
                       chain_.warmup.size() > 0 ? " after warmup" : ""));
    }
    const auto gradients = [](const ChainRecord& record) {
      return std::accumulate(record.leapfrogs.begin(), record.leapfrogs.end(), std::uint64_t{0});
    };
    chain_.iterations = chain_.warmup.size() + chain_.record.size();
    chain_.sampling = true;
    chain_.gradients_warmup = gradients(chain_.warmup);
    chain_.gradients_sampling = gradients(chain_.record);
    chain_.divergences_warmup = static_cast<std::uint64_t>(
        std::count(chain_.warmup.ending.begin(), chain_.warmup.ending.end(), Ending::diverged));
  }

  /// A sampler that did not adapt writes no mark between warmup and sampling: use the settings.
  void split_by_settings() {
    const std::string_view saved = config("save_warmup");
    if (saved != "1" && saved != "true") return;
    const std::size_t thin = std::max<std::size_t>(1, count_in_config("thin", 1));
    const std::size_t warmup = count_in_config("num_warmup", count_in_config("warmup", 0));
    const std::size_t rows = std::min((warmup + thin - 1) / thin, chain_.record.size());
    chain_.warmup = chain_.record;
    chain_.warmup.truncate(rows);
    drop_front(chain_.record, rows);
  }

  static void drop_front(ChainRecord& record, std::size_t rows) {
    const auto drop = [rows](auto& series, std::size_t width) {
      series.erase(series.begin(), series.begin() + static_cast<std::ptrdiff_t>(rows * width));
    };
    drop(record.draws, record.dimension());
    for (const auto series :
         {&ChainRecord::log_density, &ChainRecord::acceptance, &ChainRecord::step_size,
          &ChainRecord::energy, &ChainRecord::energy_error, &ChainRecord::path_length,
          &ChainRecord::mass}) {
      drop(record.*series, 1);
    }
    drop(record.depth, 1);
    drop(record.leapfrogs, 1);
    drop(record.ending, 1);
  }

  std::filesystem::path path_;
  std::size_t line_number_ = 0;
  bool ended_by_newline_ = true;
  Block block_ = Block::config;
  std::map<std::string, std::string> config_;
  std::vector<std::string> header_;
  std::vector<std::string> names_;
  std::vector<bool> is_parameter_;
  SamplerColumns columns_;
  std::vector<double> row_;
  std::vector<double> metric_;
  std::size_t metric_width_ = 0;
  std::size_t metric_rows_ = 0;
  bool adapted_ = false;
  ChainResult chain_;
};

void check_same_columns(const StanCsvFile& first, const StanCsvFile& other) {
  const auto& expected = first.header();
  const auto& found = other.header();
  if (found.size() != expected.size()) {
    throw DataError(fmt::format("{}: found {} columns, expected {} as in {}", other.path().string(),
                                found.size(), expected.size(), first.path().string()));
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    throw DataError(fmt::format("{}: column {} is '{}', expected '{}' as in {}",
                                other.path().string(), i + 1, excerpt(found[i]),
                                excerpt(expected[i]), first.path().string()));
  }
}

void check_same_length(const SampleResult& result, std::span<const std::filesystem::path> files) {
  const std::size_t expected = result.chains.front().record.size();
  const std::size_t found = result.chains.back().record.size();
  if (found == expected) return;
  throw DataError(fmt::format(
      "{}: found {} draws, expected {} as in {}; chains must be equally long: cut the longer ones",
      files[result.chains.size() - 1].string(), found, expected, files.front().string()));
}

}  // namespace

SampleResult read_stan_csv(std::span<const std::filesystem::path> files) {
  if (files.empty()) throw DataError("no Stan CSV files were given, expected one per chain");
  StanCsvFile first(files.front());
  SampleResult result;
  result.names = first.names();
  result.seed = first.seed();
  result.kernel = first.kernel();
  result.chains.push_back(std::move(first.chain()));
  for (const auto& path : files.subspan(1)) {
    StanCsvFile file(path);
    check_same_columns(first, file);
    result.chains.push_back(std::move(file.chain()));
    check_same_length(result, files);
  }
  return result;
}

}  // namespace rehmc
