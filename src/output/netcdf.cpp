// Writes results by netCDF's C interface.
#include "rehmc/output/netcdf.hpp"

#if defined(REHMC_NETCDF)

#include <fmt/format.h>
#include <netcdf.h>
#include <netcdf_mem.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/variable_grids.hpp"

namespace rehmc {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t least_bytes_to_compress = std::size_t{1} << 16;
constexpr auto padding = static_cast<std::size_t>(-1);

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view cause) {
  throw FileError(fmt::format("{}: cannot be written: {}", path.string(), cause));
}

/// A file that is made in memory, because HDF5 crashes if it cannot write, and then written as a
/// whole.
class NetcdfFile {
 public:
  explicit NetcdfFile(const std::filesystem::path& path) : path_(path) {
    check(nc_create_mem(path.c_str(), NC_NETCDF4, first_bytes, &id_));
    open_ = true;
  }
  ~NetcdfFile() {
    if (open_) nc_abort(id_);
  }
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;

  int id() const { return id_; }
  void check(int status) const {
    if (status != NC_NOERR) fail(path_, nc_strerror(status));
  }

  void finish() {
    open_ = false;
    NC_memio content{};
    check(nc_close_memio(id_, &content));
    const std::unique_ptr<void, void (*)(void*)> owned(content.memory, &std::free);
    write_whole(path_, {static_cast<const char*>(content.memory), content.size});
  }

 private:
  /// By which it also grows.
  static constexpr std::size_t first_bytes = std::size_t{1} << 20;

  std::filesystem::path path_;
  int id_ = 0;
  bool open_ = false;
};

struct Dimension {
  int id;
  std::size_t size;
};

struct Variable {
  int id;
  std::vector<std::size_t> shape;
};

/// Calls the function of netCDF's interface that is for this type.
int put(int group, int variable, const std::size_t* start, const std::size_t* count,
        const double* numbers) {
  return nc_put_vara_double(group, variable, start, count, numbers);
}
int put(int group, int variable, const std::size_t* start, const std::size_t* count,
        const std::int64_t* numbers) {
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  return nc_put_vara_longlong(group, variable, start, count,
                              reinterpret_cast<const long long*>(numbers));
}
int put(int group, int variable, const std::size_t* start, const std::size_t* count,
        const signed char* numbers) {
  return nc_put_vara_schar(group, variable, start, count, numbers);
}

template <class Number>
constexpr nc_type type_of = std::is_same_v<Number, double>
                                ? NC_DOUBLE
                                : (std::is_same_v<Number, signed char> ? NC_BYTE : NC_INT64);

/// A name that netCDF accepts: no slashes or control characters, an ordinary first character.
std::string acceptable(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == '/' || c == 127; },
      '_');
  const auto first = static_cast<unsigned char>(name.empty() ? ' ' : name.front());
  if (std::isalnum(first) == 0 && first != '_' && first < 128) name.insert(name.begin(), '_');
  if (name.back() == ' ') name.back() = '_';
  return name;
}

/// One group of the file.
class Group {
 public:
  Group(const NetcdfFile& file, const char* name) : file_(&file) {
    file.check(nc_def_grp(file.id(), name, &id_));
  }

  /// A name that no dimension or variable of this group has yet.
  std::string free_name(const std::string& wanted) {
    std::string name = acceptable(wanted);
    while (!taken_.insert(name).second) name += '_';
    return name;
  }

  /// A dimension with its coordinate, the numbers from 0 in steps.
  Dimension dimension(const std::string& wanted, std::size_t size, std::size_t step = 1) {
    const std::string name = free_name(wanted);
    Dimension dimension{.id = 0, .size = size};
    file_->check(nc_def_dim(id_, name.c_str(), size, &dimension.id));
    std::vector<std::int64_t> coordinate(size);
    for (std::size_t i = 0; i < size; ++i) coordinate[i] = static_cast<std::int64_t>(i * step);
    const Variable variable = define<std::int64_t>(name, std::array{dimension});
    write(variable, {0}, {size}, coordinate.data());
    return dimension;
  }

  template <class Number>
  Variable variable(const std::string& wanted, std::span<const Dimension> dimensions) {
    return define<Number>(free_name(wanted), dimensions);
  }

  /// Random digits hardly become smaller; to try takes longer than much else of a short run.
  void leave_uncompressed() { compresses_ = false; }

  /// Blocks of these are written at once.
  static std::size_t rows_per_block(const Variable& variable) {
    std::size_t row_bytes = sizeof(double);
    for (std::size_t k = 2; k < variable.shape.size(); ++k) row_bytes *= variable.shape[k];
    return std::clamp<std::size_t>(chunk_bytes / row_bytes, 1, variable.shape[1]);
  }

  template <class Number>
  void write(const Variable& variable, std::vector<std::size_t> start,
             std::vector<std::size_t> count, const Number* numbers) {
    for (std::size_t k = start.size(); k < variable.shape.size(); ++k) {
      start.push_back(0);
      count.push_back(variable.shape[k]);
    }
    file_->check(put(id_, variable.id, start.data(), count.data(), numbers));
  }

  void mark_as_flag(const Variable& variable) { text(variable.id, "dtype", "bool"); }
  void attribute(const char* name, const std::string& value) { text(NC_GLOBAL, name, value); }
  void attribute(const char* name, double value) {
    file_->check(nc_put_att_double(id_, NC_GLOBAL, name, NC_DOUBLE, 1, &value));
  }

 private:
  template <class Number>
  Variable define(const std::string& name, std::span<const Dimension> dimensions) {
    Variable variable{.id = 0, .shape = {}};
    std::vector<int> ids;
    for (const Dimension& dimension : dimensions) {
      ids.push_back(dimension.id);
      variable.shape.push_back(dimension.size);
    }
    file_->check(nc_def_var(id_, name.c_str(), type_of<Number>, static_cast<int>(ids.size()),
                            ids.data(), &variable.id));
    if (compresses_ && variable.shape.size() > 1) compress<Number>(variable);
    return variable;
  }

  template <class Number>
  void compress(const Variable& variable) {
    const std::size_t size = std::accumulate(variable.shape.begin(), variable.shape.end(),
                                             std::size_t{1}, std::multiplies<>());
    if (size * sizeof(Number) < least_bytes_to_compress) return;
    std::vector<std::size_t> chunk = variable.shape;
    chunk[0] = 1;
    chunk[1] = rows_per_block(variable);
    file_->check(nc_def_var_chunking(id_, variable.id, NC_CHUNKED, chunk.data()));
    file_->check(nc_def_var_deflate(id_, variable.id, 1, 1, 1));
  }

  void text(int variable, const char* name, const std::string& value) {
    file_->check(nc_put_att_text(id_, variable, name, value.size(), value.c_str()));
  }

  const NetcdfFile* file_;
  int id_ = 0;
  std::set<std::string> taken_;
  bool compresses_ = true;
};

/// Which rows of a chain's matrix go into the file, in order; `padding` for NaN.
struct ChainRows {
  const std::vector<double>* matrix;
  std::vector<std::size_t> rows;
};

/// Some columns of the matrices, and the width of these.
struct NamedColumns {
  std::vector<std::string> names;
  std::vector<std::size_t> places;
  std::size_t width = 0;
};

/// Writes parameters. The rows of a chain fill the dimensions after the first, the last of
/// these fastest.
void write_parameters(Group& group, const NamedColumns& columns,
                      const std::vector<Dimension>& leading, const std::vector<ChainRows>& chains) {
  std::size_t inner = 1;
  for (std::size_t k = 2; k < leading.size(); ++k) inner *= leading[k].size;
  std::vector<double> block;
  for (const VariableGrid& grid : variable_grids(columns.names)) {
    std::vector<Dimension> dimensions = leading;
    for (std::size_t k = 0; k < grid.shape.size(); ++k) {
      dimensions.push_back(group.dimension(fmt::format("{}_dim_{}", grid.name, k), grid.shape[k]));
    }
    const Variable variable = group.variable<double>(grid.name, dimensions);
    const std::size_t most = Group::rows_per_block(variable);
    for (std::size_t c = 0; c < chains.size(); ++c) {
      for (std::size_t begin = 0; begin < leading[1].size; begin += most) {
        const std::size_t count = std::min(most, leading[1].size - begin);
        block.clear();
        for (const std::size_t row :
             std::span(chains[c].rows).subspan(begin * inner, count * inner)) {
          for (const std::size_t k : grid.columns) {
            block.push_back(row == padding
                                ? nan_value
                                : (*chains[c].matrix)[row * columns.width + columns.places[k]]);
          }
        }
        group.write(variable, {c, begin}, {1, count}, block.data());
      }
    }
  }
}

/// One phase of all chains: the records, and which draws of them are stored.
struct Phase {
  std::vector<const ChainRecord*> records;
  std::size_t thin;
  std::size_t draws = 0;  ///< that are stored

  Phase(const SampleResult& result, ChainRecord ChainResult::*of, std::size_t every)
      : thin(std::max<std::size_t>(every, 1)) {
    for (const ChainResult& chain : result.chains) {
      const ChainRecord& record = chain.*of;
      const std::size_t stored = (record.size() + thin - 1) / thin;
      draws = records.empty() ? stored : std::min(draws, stored);
      records.push_back(&record);
    }
  }
};

std::vector<Dimension> chain_and_draw(Group& group, const Phase& phase) {
  const Dimension chain = group.dimension("chain", phase.records.size());
  return {chain, group.dimension("draw", phase.draws, phase.thin)};
}

class Writer {
 public:
  Writer(const NetcdfFile& file, const SampleResult& result, const NetcdfInfo& info)
      : file_(&file), result_(&result), info_(&info) {}

  /// Everything that has no group of its own.
  std::vector<std::size_t> parameters() const {
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < result_->names.size(); ++i) {
      const auto has = [i](const std::vector<std::size_t>& some) {
        return std::find(some.begin(), some.end(), i) != some.end();
      };
      if (!has(info_->log_likelihood) && !has(info_->predictive)) columns.push_back(i);
    }
    return columns;
  }

  std::vector<std::size_t> everything() const {
    std::vector<std::size_t> columns(result_->names.size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    return columns;
  }

  void draws(const char* name, const Phase& phase, const std::vector<std::size_t>& columns) const {
    if (columns.empty()) return;
    Group group = new_group(name);
    std::vector<ChainRows> chains;
    for (const ChainRecord* record : phase.records) {
      ChainRows& rows = chains.emplace_back(ChainRows{&record->draws, {}});
      for (std::size_t i = 0; i < phase.draws; ++i) rows.rows.push_back(i * phase.thin);
    }
    write_parameters(group, named(columns, columns, result_->names.size()),
                     chain_and_draw(group, phase), chains);
  }

  void data(const char* name, const std::map<std::string, DataArray>& variables) const {
    if (variables.empty()) return;
    Group group = new_group(name);
    for (const auto& [wanted, array] : variables) {
      std::vector<Dimension> dimensions;
      for (std::size_t k = 0; k < array.shape.size(); ++k) {
        dimensions.push_back(group.dimension(fmt::format("{}_dim_{}", wanted, k), array.shape[k]));
      }
      const Variable variable = group.variable<double>(wanted, dimensions);
      group.write(variable, {}, {}, array.values.data());
    }
  }

  /// `metric`: whether these draws were taken with the final metric.
  void sample_stats(const char* name, const Phase& phase, bool metric) const {
    Group group = new_group(name);
    const std::vector<Dimension> dimensions = chain_and_draw(group, phase);
    // One value of a function per draw.
    const auto series = [&]<class Number>(const char* variable_name, Number, const auto& tell) {
      Variable variable = group.variable<Number>(variable_name, dimensions);
      std::vector<Number> numbers(phase.draws);
      for (std::size_t c = 0; c < phase.records.size(); ++c) {
        for (std::size_t i = 0; i < phase.draws; ++i) {
          numbers[i] = static_cast<Number>(tell(*phase.records[c], i * phase.thin));
        }
        group.write(variable, {c, 0}, {1, phase.draws}, numbers.data());
      }
      return variable;
    };
    const auto numbers = [&](const char* variable_name, std::vector<double> ChainRecord::*of) {
      series(variable_name, double{},
             [of](const ChainRecord& r, std::size_t i) { return (r.*of)[i]; });
    };
    const auto flag = [&](const char* variable_name, Ending ending) {
      group.mark_as_flag(series(
          variable_name, static_cast<signed char>(0),
          [ending](const ChainRecord& r, std::size_t i) { return r.ending[i] == ending ? 1 : 0; }));
    };
    numbers("lp", &ChainRecord::log_density);
    numbers("acceptance_rate", &ChainRecord::acceptance);
    numbers("step_size", &ChainRecord::step_size);
    numbers("energy", &ChainRecord::energy);
    numbers("energy_error", &ChainRecord::energy_error);
    numbers("int_time", &ChainRecord::path_length);
    if (result_->kernel.masses_differ()) numbers("mass", &ChainRecord::mass);
    series("tree_depth", std::int64_t{},
           [](const ChainRecord& r, std::size_t i) { return r.depth[i]; });
    series("n_steps", std::int64_t{},
           [](const ChainRecord& r, std::size_t i) { return r.leapfrogs[i]; });
    flag("diverging", Ending::diverged);
    flag("reached_max_treedepth", Ending::depth_limit);
    if (metric) inverse_metric(group, dimensions.front());
  }

  void recycled_posterior(const Phase& phase) const {
    std::vector<ChainRows> chains;
    std::vector<std::vector<std::int64_t>> draw_of;
    for (const ChainRecord* record : phase.records) {
      ChainRows& rows = chains.emplace_back(ChainRows{&record->kept, {}});
      auto& draws = draw_of.emplace_back();
      for (std::size_t i = 0; i < phase.draws; ++i) {
        const std::size_t draw = i * phase.thin;
        for (std::size_t k = record->kept_begin(draw); k < record->kept_begin(draw + 1); ++k) {
          rows.rows.push_back(k);
          draws.push_back(static_cast<std::int64_t>(draw));
        }
      }
    }
    std::size_t most = 0;
    for (const ChainRows& chain : chains) most = std::max(most, chain.rows.size());
    if (most == 0 || phase.records.front()->kept_dimension() == 0) return;
    Group group = new_group("recycled_posterior");
    group.leave_uncompressed();
    const NamedColumns names = kept_columns(*phase.records.front());
    const std::size_t per_draw = states_per_draw(phase);
    if (per_draw > 0) {
      std::vector<Dimension> dimensions = chain_and_draw(group, phase);
      dimensions.push_back(group.dimension("recycle", per_draw));
      if (!weights_are_equal(phase, per_draw)) write_weights(group, dimensions, phase, chains);
      write_parameters(group, names, dimensions, chains);
      return;
    }
    const std::vector<Dimension> dimensions{group.dimension("chain", chains.size()),
                                            group.dimension("state", most)};
    const Variable draw = group.variable<std::int64_t>("draw", dimensions);
    for (std::size_t c = 0; c < chains.size(); ++c) {
      chains[c].rows.resize(most, padding);
      draw_of[c].resize(most, -1);
      group.write(draw, {c, 0}, {1, most}, draw_of[c].data());
    }
    write_weights(group, dimensions, phase, chains);
    write_parameters(group, names, dimensions, chains);
  }

 private:
  Group new_group(const char* name) const {
    Group group(*file_, name);
    double warmup = 0;
    double sampling = 0;
    for (const ChainResult& chain : result_->chains) {
      warmup += chain.seconds_warmup;
      sampling += chain.seconds_sampling;
    }
    group.attribute("created_at", info_->created);
    group.attribute("creation_library", "rehmc");
    group.attribute("creation_library_version", info_->version);
    group.attribute("creation_library_language", "C++");
    group.attribute("inference_library", "rehmc");
    group.attribute("inference_library_version", info_->version);
    group.attribute("inference_library_settings", info_->settings_json);
    group.attribute("warmup_time", warmup);
    group.attribute("sampling_time", sampling);
    return group;
  }

  /// The diagonal of M^{-1}, or all of it if it is dense. A low-rank one is left out: in full it
  /// would take far more space.
  void inverse_metric(Group& group, const Dimension& chain) const {
    const Metric* first = result_->chains.front().tuning.metric.get();
    if (first == nullptr || first->kind() == MetricKind::low_rank) return;
    for (const ChainResult& other : result_->chains) {
      const Metric* metric = other.tuning.metric.get();
      if (metric == nullptr || metric->kind() != first->kind()) return;
      if (metric->dimension() != first->dimension()) return;
    }
    const bool dense = first->kind() == MetricKind::dense;
    std::vector<Dimension> dimensions{chain,
                                      group.dimension("inv_metric_dim_0", first->dimension())};
    if (dense) dimensions.push_back(group.dimension("inv_metric_dim_1", first->dimension()));
    const Variable variable = group.variable<double>("inv_metric", dimensions);
    for (std::size_t c = 0; c < result_->chains.size(); ++c) {
      const Metric& metric = *result_->chains[c].tuning.metric;
      const auto numbers = dense ? metric.numbers() : metric.inverse_diagonal();
      group.write(variable, {c}, {1}, numbers.data());
    }
  }

  /// Of the columns that are known of kept states.
  NamedColumns kept_columns(const ChainRecord& record) const {
    std::vector<std::size_t> places(record.kept_dimension());
    std::iota(places.begin(), places.end(), std::size_t{0});
    return named(record.kept_columns.value_or(places), places, places.size());
  }

  /// Columns of the result that are in these places of a matrix.
  NamedColumns named(const std::vector<std::size_t>& columns, std::vector<std::size_t> places,
                     std::size_t width) const {
    NamedColumns all{{}, std::move(places), width};
    for (const std::size_t column : columns) all.names.push_back(result_->names[column]);
    return all;
  }

  /// The number of states that every draw keeps; 0 if it varies.
  static std::size_t states_per_draw(const Phase& phase) {
    const std::size_t count = phase.records.front()->kept_begin(1);
    for (const ChainRecord* record : phase.records) {
      for (std::size_t i = 0; i < phase.draws * phase.thin && i < record->size(); i += phase.thin) {
        if (record->kept_begin(i + 1) - record->kept_begin(i) != count) return 0;
      }
    }
    return count;
  }

  static bool weights_are_equal(const Phase& phase, std::size_t per_draw) {
    const double expected = 1 / static_cast<double>(per_draw);
    return std::all_of(phase.records.begin(), phase.records.end(), [&](const ChainRecord* record) {
      return std::all_of(record->kept_weight.begin(), record->kept_weight.end(),
                         [&](double weight) { return std::abs(weight - expected) < 1e-12; });
    });
  }

  static void write_weights(Group& group, const std::vector<Dimension>& dimensions,
                            const Phase& phase, const std::vector<ChainRows>& chains) {
    const Variable variable = group.variable<double>("log_weight", dimensions);
    for (std::size_t c = 0; c < chains.size(); ++c) {
      std::vector<double> logs;
      for (const std::size_t row : chains[c].rows) {
        logs.push_back(std::log(row == padding ? 0 : phase.records[c]->kept_weight[row]));
      }
      group.write(variable, {c}, {1}, logs.data());
    }
  }

  const NetcdfFile* file_;
  const SampleResult* result_;
  const NetcdfInfo* info_;
};

}  // namespace

void write_netcdf(const std::filesystem::path& path, const SampleResult& result,
                  const NetcdfInfo& info) {
  NetcdfFile file(path);
  const Writer writer(file, result, info);
  const Phase sampling(result, &ChainResult::record, info.thin);
  const Phase warmup(result, &ChainResult::warmup, info.thin);
  if (sampling.draws > 0) {
    writer.draws("posterior", sampling, writer.parameters());
    writer.draws("posterior_predictive", sampling, info.predictive);
    writer.draws("log_likelihood", sampling, info.log_likelihood);
    writer.data("observed_data", info.observed);
    writer.data("constant_data", info.constant);
    writer.sample_stats("sample_stats", sampling, true);
    if (info.recycled && result.kernel.recycling.kind != RecyclingKind::none) {
      writer.recycled_posterior(sampling);
    }
  }
  if (warmup.draws > 0) {
    writer.draws("warmup_posterior", warmup, writer.everything());
    writer.sample_stats("warmup_sample_stats", warmup, false);
  }
  file.finish();
}

bool writes_netcdf() noexcept { return true; }

}  // namespace rehmc

#else

#include "rehmc/core/error.hpp"

namespace rehmc {

bool writes_netcdf() noexcept { return false; }

void write_netcdf(const std::filesystem::path& path, const SampleResult& /*result*/,
                  const NetcdfInfo& /*info*/) {
  throw ConfigError(path.string() + ": this rehmc was built without netCDF");
}

}  // namespace rehmc

#endif
