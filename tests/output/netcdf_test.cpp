// netCDF files: groups, shapes and numbers, read back by netCDF's own interface.
#include "rehmc/output/netcdf.hpp"

#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/output/records.hpp"
#include "tests/output/text_files.hpp"

namespace rehmc::netcdf_test {
namespace {

using testing::TextFiles;
using Shape = std::vector<std::size_t>;
using Numbers = std::vector<double>;

/// One variable of a group: the names and sizes of its dimensions, and all numbers.
struct Array {
  std::vector<std::string> dimensions;
  Shape shape;
  Numbers numbers;
};

void must(int status) { ASSERT_EQ(status, NC_NOERR) << nc_strerror(status); }

Array read_array(int group, int variable) {
  int rank = 0;
  must(nc_inq_varndims(group, variable, &rank));
  std::vector<int> ids(static_cast<std::size_t>(rank));
  must(nc_inq_vardimid(group, variable, ids.data()));
  Array array;
  std::size_t size = 1;
  for (const int id : ids) {
    char name[NC_MAX_NAME + 1];
    std::size_t length = 0;
    must(nc_inq_dim(group, id, name, &length));
    array.dimensions.emplace_back(name);
    array.shape.push_back(length);
    size *= length;
  }
  array.numbers.resize(size);
  must(nc_get_var_double(group, variable, array.numbers.data()));
  return array;
}

/// All variables of a group by name; none if there is no such group.
std::map<std::string, Array> read_group(const std::filesystem::path& path, const char* name) {
  std::map<std::string, Array> arrays;
  int file = 0;
  must(nc_open(path.c_str(), NC_NOWRITE, &file));
  int group = 0;
  if (nc_inq_ncid(file, name, &group) == NC_NOERR) {
    int count = 0;
    must(nc_inq_nvars(group, &count));
    for (int variable = 0; variable < count; ++variable) {
      char variable_name[NC_MAX_NAME + 1];
      must(nc_inq_varname(group, variable, variable_name));
      arrays[variable_name] = read_array(group, variable);
    }
  }
  must(nc_close(file));
  return arrays;
}

std::string read_attribute(const std::filesystem::path& path, const char* group_name,
                           const char* variable_name, const char* attribute) {
  int file = 0;
  int group = 0;
  int variable = NC_GLOBAL;
  must(nc_open(path.c_str(), NC_NOWRITE, &file));
  must(nc_inq_ncid(file, group_name, &group));
  if (variable_name != nullptr) must(nc_inq_varid(group, variable_name, &variable));
  std::size_t size = 0;
  must(nc_inq_attlen(group, variable, attribute, &size));
  std::string text(size, '?');
  must(nc_get_att_text(group, variable, attribute, text.data()));
  must(nc_close(file));
  return text;
}

/// Value of a parameter in a draw: identifies chain, draw and column.
double value(std::size_t chain, double draw, std::size_t column) {
  return 1000.0 * static_cast<double>(chain) + draw + static_cast<double>(column) / 64;
}

/// A record whose draw i keeps counts[i % counts.size()] states of equal weight; state k of draw i
/// has the value of "draw" i + k/8.
ChainRecord some_record(std::size_t chain, std::size_t draws, std::size_t columns,
                        const std::vector<std::size_t>& counts) {
  ChainRecord record = testing::empty_record(columns, draws);
  for (std::size_t i = 0; i < draws; ++i) {
    Numbers position;
    for (std::size_t p = 0; p < columns; ++p) position.push_back(value(chain, double(i), p));
    Transition transition;
    transition.state.position = position;
    transition.state.log_density = -static_cast<double>(i);
    transition.energy = 0.5;
    transition.leapfrogs = 7;
    transition.depth = 3;
    transition.ending = i == 1 ? Ending::diverged : i == 2 ? Ending::depth_limit : Ending::turned;
    record.add_draw(transition, transition.state.position);
    const std::size_t count = counts[i % counts.size()];
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t p = 0; p < columns; ++p) {
        record.kept.push_back(value(chain, double(i) + double(k) / 8, p));
      }
      record.kept_weight.push_back(1 / double(count));
    }
    record.kept_end.push_back(record.kept_weight.size());
  }
  return record;
}

SampleResult some_result(std::vector<std::string> names, std::size_t draws,
                         const std::vector<std::size_t>& counts) {
  SampleResult result;
  result.names = std::move(names);
  const std::size_t d = result.names.size();
  for (std::size_t chain = 0; chain < 2; ++chain) {
    ChainResult& added = result.chains.emplace_back();
    added.record = some_record(chain, draws, d, counts);
    added.tuning = {0.5, make_diagonal_metric(Numbers(d, 2.0))};
  }
  return result;
}

TEST(Netcdf, FullGridsBecomeArraysAndOthersStayScalars) {
  const TextFiles files;
  const auto path = files.folder() / "posterior.nc";
  // A matrix in Stan's order, columns first; a part of a vector; a reserved name; one that the
  // format does not allow.
  const SampleResult result =
      some_result({"mu", "foo.1.1", "foo.2.1", "foo.1.2", "foo.2.2", "foo.1.3", "foo.2.3", "bar.2",
                   "bar.3", "draw", "a/b", "one.1", "x.01.y"},
                  3, {2});
  write_netcdf(path, result, {.version = "1.2.3", .created = "today"});

  const auto posterior = read_group(path, "posterior");
  ASSERT_TRUE(posterior.contains("foo"));
  const Array& foo = posterior.at("foo");
  EXPECT_EQ(foo.dimensions, (std::vector<std::string>{"chain", "draw", "foo_dim_0", "foo_dim_1"}));
  EXPECT_EQ(foo.shape, (Shape{2, 3, 2, 3}));
  // Chain 1, draw 2: rows of the matrix are columns 1, 3, 5 and 2, 4, 6 of the record.
  for (const auto& [place, column] :
       std::map<std::size_t, std::size_t>{{0, 1}, {1, 3}, {2, 5}, {3, 2}, {4, 4}, {5, 6}}) {
    EXPECT_EQ(foo.numbers[(1 * 3 + 2) * 6 + place], value(1, 2, column));
  }
  EXPECT_EQ(posterior.at("mu").shape, (Shape{2, 3}));
  EXPECT_EQ(posterior.at("mu").numbers[4], value(1, 1, 0));
  EXPECT_EQ(posterior.at("bar.2").shape, (Shape{2, 3}));
  EXPECT_EQ(posterior.at("bar.3").numbers[0], value(0, 0, 8));
  EXPECT_EQ(posterior.at("draw").numbers, (Numbers{0, 1, 2}));
  EXPECT_EQ(posterior.at("draw_").numbers[1], value(0, 1, 9));
  EXPECT_EQ(posterior.at("a_b").numbers[1], value(0, 1, 10));
  EXPECT_EQ(posterior.at("one").shape, (Shape{2, 3, 1}));
  EXPECT_EQ(posterior.at("x.01.y").shape, (Shape{2, 3}));
  EXPECT_EQ(posterior.at("chain").numbers, (Numbers{0, 1}));
  EXPECT_EQ(read_attribute(path, "posterior", nullptr, "inference_library"), "rehmc");
  EXPECT_EQ(read_attribute(path, "posterior", nullptr, "inference_library_version"), "1.2.3");
  EXPECT_EQ(read_attribute(path, "sample_stats", nullptr, "created_at"), "today");
}

TEST(Netcdf, StatisticsHaveTheNamesOfArviz) {
  const TextFiles files;
  const auto path = files.folder() / "posterior.nc";
  write_netcdf(path, some_result({"mu", "tau"}, 3, {2}), {});
  const auto stats = read_group(path, "sample_stats");
  for (const char* name :
       {"lp", "acceptance_rate", "step_size", "tree_depth", "n_steps", "diverging",
        "reached_max_treedepth", "energy", "energy_error", "int_time"}) {
    ASSERT_TRUE(stats.contains(name)) << name;
    EXPECT_EQ(stats.at(name).dimensions, (std::vector<std::string>{"chain", "draw"})) << name;
  }
  EXPECT_EQ(stats.at("lp").numbers, (Numbers{0, -1, -2, 0, -1, -2}));
  EXPECT_EQ(stats.at("n_steps").numbers, Numbers(6, 7));
  EXPECT_EQ(stats.at("tree_depth").numbers, Numbers(6, 3));
  EXPECT_EQ(stats.at("diverging").numbers, (Numbers{0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(stats.at("reached_max_treedepth").numbers, (Numbers{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(read_attribute(path, "sample_stats", "diverging", "dtype"), "bool");
  EXPECT_EQ(stats.at("inv_metric").shape, (Shape{2, 2}));
  EXPECT_EQ(stats.at("inv_metric").numbers, Numbers(4, 2.0));
}

TEST(Netcdf, EqualNumbersOfRecycledStatesHaveADimension) {
  const TextFiles files;
  const auto path = files.folder() / "posterior.nc";
  SampleResult result = some_result({"mu", "tau"}, 3, {2});
  write_netcdf(path, result, {});
  auto recycled = read_group(path, "recycled_posterior");
  EXPECT_EQ(recycled.at("tau").dimensions, (std::vector<std::string>{"chain", "draw", "recycle"}));
  EXPECT_EQ(recycled.at("tau").shape, (Shape{2, 3, 2}));
  EXPECT_EQ(recycled.at("tau").numbers[9], value(1, 1.125, 1));  // chain 1, draw 1, state 1
  EXPECT_FALSE(recycled.contains("log_weight"));

  result.chains[1].record.kept_weight[2] = 0.25;
  result.chains[1].record.kept_weight[3] = 0.75;
  write_netcdf(path, result, {});
  recycled = read_group(path, "recycled_posterior");
  EXPECT_EQ(recycled.at("log_weight").numbers[8], std::log(0.25));

  result.kernel.recycling.kind = RecyclingKind::none;
  write_netcdf(path, result, {});
  EXPECT_TRUE(read_group(path, "recycled_posterior").empty());
}

TEST(Netcdf, OnlyKnownColumnsAreRecycled) {
  const TextFiles files;
  const auto path = files.folder() / "posterior.nc";
  SampleResult result = some_result({"mu", "tau", "theta"}, 3, {2});
  for (ChainResult& chain : result.chains) {
    ChainRecord& record = chain.record;
    record.kept_columns = {{1}};
    std::vector<double> some;
    for (std::size_t at = 1; at < record.kept.size(); at += 3) some.push_back(record.kept[at]);
    record.kept = some;
  }
  write_netcdf(path, result, {});
  const auto recycled = read_group(path, "recycled_posterior");
  EXPECT_EQ(recycled.at("tau").numbers[9], value(1, 1.125, 1));
  EXPECT_FALSE(recycled.contains("mu"));
  for (ChainResult& chain : result.chains) {
    chain.record.kept_columns = {std::vector<std::size_t>()};
    chain.record.kept.clear();
  }
  write_netcdf(path, result, {});
  EXPECT_TRUE(read_group(path, "recycled_posterior").empty());
}

TEST(Netcdf, PredictionsAndDataHaveTheirOwnGroups) {
  const TextFiles files;
  const auto path = files.folder() / "posterior.nc";
  const SampleResult result =
      some_result({"mu", "y_rep.1", "y_rep.2", "log_lik.1", "log_lik.2"}, 3, {1});
  NetcdfInfo info;
  info.predictive = {1, 2};
  info.log_likelihood = {3, 4};
  info.observed["y"] = {{2}, {5, 6}};
  info.constant["x"] = {{2, 3}, {1, 2, 3, 4, 5, 6}};
  info.constant["N"] = {{}, {2}};
  write_netcdf(path, result, info);
  const auto posterior = read_group(path, "posterior");
  EXPECT_TRUE(posterior.contains("mu"));
  EXPECT_FALSE(posterior.contains("y_rep") || posterior.contains("log_lik"));
  const auto predictive = read_group(path, "posterior_predictive");
  EXPECT_EQ(predictive.at("y_rep").shape, (Shape{2, 3, 2}));
  EXPECT_EQ(predictive.at("y_rep").numbers[7], value(1, 0, 2));
  const auto likelihood = read_group(path, "log_likelihood");
  EXPECT_EQ(likelihood.at("log_lik").numbers[2], value(0, 1, 3));
  EXPECT_EQ(read_group(path, "observed_data").at("y").numbers, (Numbers{5, 6}));
  const auto constant = read_group(path, "constant_data");
  EXPECT_EQ(constant.at("x").shape, (Shape{2, 3}));
  EXPECT_EQ(constant.at("x").numbers, (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(constant.at("N").numbers, (Numbers{2}));
}

TEST(Netcdf, UnequalNumbersOfRecycledStatesAreConcatenated) {
  const TextFiles files;
  const auto path = files.folder() / "posterior.nc";
  SampleResult result = some_result({"mu", "tau"}, 3, {2, 1});
  result.chains[1].record = some_record(1, 3, 2, {1});
  write_netcdf(path, result, {});
  const auto recycled = read_group(path, "recycled_posterior");
  EXPECT_EQ(recycled.at("tau").dimensions, (std::vector<std::string>{"chain", "state"}));
  EXPECT_EQ(recycled.at("tau").shape, (Shape{2, 5}));
  EXPECT_EQ(recycled.at("draw").numbers, (Numbers{0, 0, 1, 2, 2, 0, 1, 2, -1, -1}));
  EXPECT_EQ(recycled.at("tau").numbers[4], value(0, 2.125, 1));
  EXPECT_EQ(recycled.at("tau").numbers[7], value(1, 2, 1));
  EXPECT_TRUE(std::isnan(recycled.at("tau").numbers[8]));
  EXPECT_EQ(recycled.at("log_weight").numbers[1], std::log(0.5));
  EXPECT_EQ(recycled.at("log_weight").numbers[7], 0);
  EXPECT_EQ(recycled.at("log_weight").numbers[9], -HUGE_VAL);
}

TEST(Netcdf, ThinsWarmupAndSamplingAndCutsToTheShortestChain) {
  const TextFiles files;
  const auto path = files.folder() / "posterior.nc";
  SampleResult result = some_result({"mu"}, 7, {2});
  result.chains[1].record = some_record(1, 5, 1, {2});
  for (auto& chain : result.chains) chain.warmup = some_record(5, 4, 1, {2});
  write_netcdf(path, result, {.thin = 2});
  const auto posterior = read_group(path, "posterior");
  EXPECT_EQ(posterior.at("draw").numbers, (Numbers{0, 2, 4}));
  EXPECT_EQ(posterior.at("mu").numbers, (Numbers{value(0, 0, 0), value(0, 2, 0), value(0, 4, 0),
                                                 value(1, 0, 0), value(1, 2, 0), value(1, 4, 0)}));
  EXPECT_EQ(read_group(path, "recycled_posterior").at("mu").numbers[3], value(0, 2.125, 0));
  EXPECT_EQ(read_group(path, "sample_stats").at("lp").numbers[2], -4);
  EXPECT_EQ(read_group(path, "warmup_posterior").at("mu").numbers[1], value(5, 2, 0));
  EXPECT_EQ(read_group(path, "warmup_sample_stats").at("lp").shape, (Shape{2, 2}));
}

TEST(Netcdf, LargeVariablesComeBackWhole) {
  const TextFiles files;
  const auto path = files.folder() / "posterior.nc";
  std::vector<std::string> names;
  for (int i = 1; i <= 600; ++i) names.push_back("x." + std::to_string(i));
  const std::size_t draws = 500;  // 2.4 MB a chain: compressed, in several blocks
  SampleResult result = some_result(names, draws, {1});
  result.kernel.recycling.kind = RecyclingKind::none;  // recycled states are not compressed
  write_netcdf(path, result, {});
  const auto posterior = read_group(path, "posterior");
  EXPECT_EQ(posterior.at("x").shape, (Shape{2, draws, 600}));
  Numbers expected = result.chains[0].record.draws;
  expected.insert(expected.end(), result.chains[1].record.draws.begin(),
                  result.chains[1].record.draws.end());
  EXPECT_TRUE(posterior.at("x").numbers == expected);
  EXPECT_LT(std::filesystem::file_size(path), expected.size() * sizeof(double));
}

TEST(Netcdf, WithoutDrawsThereAreNoGroups) {
  const TextFiles files;
  const auto path = files.folder() / "posterior.nc";
  write_netcdf(path, some_result({"mu"}, 0, {1}), {});
  EXPECT_TRUE(read_group(path, "posterior").empty());
}

TEST(Netcdf, FailureNamesThePathAndLeavesTheOldFile) {
  const TextFiles files;
  const SampleResult result = some_result({"mu"}, 3, {1});
  const auto nowhere = files.folder() / "none" / "posterior.nc";
  try {
    write_netcdf(nowhere, result, {});
    FAIL();
  } catch (const FileError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(nowhere.string() + ": ")) << error.what();
  }
  const auto path = files.write("posterior.nc", "old");
  SampleResult broken = result;
  broken.names = {std::string(NC_MAX_NAME + 1, 'x')};  // longer than the format takes
  EXPECT_THROW(write_netcdf(path, broken, {}), FileError);
  EXPECT_EQ(std::filesystem::file_size(path), 3U);
  write_netcdf(path, result, {});
  EXPECT_FALSE(read_group(path, "posterior").empty());
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(files.folder())) {
    EXPECT_EQ(entry.path(), path);
    ++count;
  }
  EXPECT_EQ(count, 1U);  // nothing temporary stays
}

}  // namespace
}  // namespace rehmc::netcdf_test
