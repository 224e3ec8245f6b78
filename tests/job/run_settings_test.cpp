// Settings of a run: as JSON and back, choices by name, patterns of names.
#include "rehmc/job/run_settings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "src/job/settings_json.hpp"

namespace rehmc::run_settings_test {
namespace {

using Names = std::vector<std::string>;
using Columns = std::vector<std::size_t>;

/// Settings in which every number differs from its default, as far as its range allows.
RunSettings unusual_settings() {
  RunSettings settings;
  for_each_setting(settings, [](std::string_view, const auto& setting, auto& owner) {
    auto& value = owner.*(setting.field);
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::same_as<Value, bool>) {
      value = !value;
    } else if constexpr (std::integral<Value>) {
      value = static_cast<Value>(value + 3);
    } else {
      value = value * 0.9876543210123456;
    }
  });
  settings.sample.engine = EngineKind::batch;
  settings.sample.kernel.kind = KernelKind::nuts_slice;
  settings.sample.kernel.recycling = parse_recycling("simple:5");
  settings.sample.kernel.hmc.path_steps_most = 9;
  settings.sample.warmup.schedule = WarmupSchedule::stan;
  settings.sample.start_kind = StartKind::pathfinder;
  settings.sample.warmup.metric = MetricKind::dense;
  settings.sample.warmup.metric_from = MetricSource::draws;
  settings.sample.warmup.initial_metric = make_diagonal_metric(std::vector<double>{0.1, 1.0 / 3});
  settings.sample.start = {{0.1, 0.2}, {1.0 / 3, 4}};
  settings.save_warmup = true;
  settings.save = {"a", "b.*"};
  settings.drop = {"c"};
  settings.until = "ess>=400";
  return settings;
}

/// Every whole number among the settings is read as it stands, or refused by its name.
TEST(RunSettings, WholeNumbersOfJsonAreNotCut) {
  const auto stored = settings_json(RunSettings{});
  RunSettings settings;
  std::size_t tested = 0;
  for_each_setting(settings, [&](std::string_view group, const auto& setting, auto& owner) {
    using Value = std::decay_t<decltype(owner.*(setting.field))>;
    if constexpr (std::integral<Value> && !std::same_as<Value, bool>) {
      for (const char* wrong :
           {"2.7", "2.0", "36893488147419103232", "-3000000000", "\"2\"", "true"}) {
        auto json = stored;
        json[std::string(group)][std::string(setting.name)] = nlohmann::ordered_json::parse(wrong);
        try {
          settings_from_json(json);
          ADD_FAILURE() << setting.name << " " << wrong << " was read";
        } catch (const DataError& error) {
          EXPECT_NE(std::string(error.what()).find(setting.name), std::string::npos)
              << error.what();
        }
      }
      ++tested;
    }
  });
  EXPECT_GT(tested, 5U);
}

TEST(RunSettings, ComeBackFromJson) {
  const RunSettings settings = unusual_settings();
  const RunSettings again =
      settings_from_json(nlohmann::ordered_json::parse(settings_json(settings).dump()));
  EXPECT_EQ(settings_json(again), settings_json(settings));
  EXPECT_NE(settings_json(again), settings_json(RunSettings{}));
  EXPECT_EQ(again.sample.kernel.kind, KernelKind::nuts_slice);
  EXPECT_EQ(again.sample.engine, EngineKind::batch);
  EXPECT_EQ(again.sample.warmup.metric, MetricKind::dense);
  EXPECT_EQ(again.sample.warmup.schedule, WarmupSchedule::stan);
  EXPECT_EQ(again.sample.start_kind, StartKind::pathfinder);
  EXPECT_EQ(again.sample.warmup.initial_metric->numbers(),
            settings.sample.warmup.initial_metric->numbers());
  EXPECT_EQ(again.sample.start, settings.sample.start);
  RunSettings copy = settings;
  RunSettings restored = again;
  std::vector<double> numbers;
  const auto collect = [&](std::string_view, const auto& setting, auto& owner) {
    numbers.push_back(static_cast<double>(owner.*(setting.field)));
  };
  for_each_setting(copy, collect);
  const std::vector<double> before = numbers;
  numbers.clear();
  for_each_setting(restored, collect);
  EXPECT_EQ(numbers, before);
  EXPECT_GT(numbers.size(), 20U);
}

TEST(RunSettings, AreNotReadFromJsonThatLacksOne) {
  nlohmann::ordered_json json = settings_json(RunSettings{});
  EXPECT_NO_THROW(settings_from_json(json));
  ASSERT_EQ(json.at("run").erase("thin"), 1U);
  EXPECT_THROW(settings_from_json(json), DataError);
  EXPECT_THROW(settings_from_json({}), DataError);
  EXPECT_THROW(settings_from_json("nonsense"), DataError);
}

TEST(RunSettings, KnowTheirChoicesByName) {
  EXPECT_EQ(parse_kernel("nuts-slice"), KernelKind::nuts_slice);
  for (const std::string name : {"auto", "diag", "dense", "low-rank", "unit"}) {
    EXPECT_EQ(metric_name(parse_metric(name)), name);
    EXPECT_EQ(parse_metric(name).has_value(), name != "auto");
  }
  EXPECT_EQ(parse_metric("unit"), MetricKind::unit);
  for (const std::string name : {"auto", "random", "pathfinder"}) {
    EXPECT_EQ(start_name(parse_start(name)), name);
    EXPECT_EQ(parse_start(name).has_value(), name != "auto");
  }
  EXPECT_EQ(parse_start("pathfinder"), StartKind::pathfinder);
  EXPECT_EQ(parse_metric_source("draws"), MetricSource::draws);
  EXPECT_THROW(parse_kernel("gibbs"), ConfigError);
  EXPECT_THROW(parse_metric("low_rank"), ConfigError);
  EXPECT_THROW(parse_start("laplace"), ConfigError);
  EXPECT_THROW(parse_metric_source(""), ConfigError);
}

TEST(RunSettings, RefuseWhatContradictsItself) {
  RunSettings settings;
  settings.store_draws = false;
  EXPECT_NO_THROW(settings.check());
  settings.until = "ess>=100";
  EXPECT_THROW(settings.check(), ConfigError);
  settings.until.clear();
  settings.save_warmup = true;
  EXPECT_THROW(settings.check(), ConfigError);
}

TEST(Columns, AreChosenByPatterns) {
  const Names names{"mu", "tau", "theta.1", "theta.2", "theta.10", "z.1.2", "theta_raw.1"};
  const auto chosen = [&](const Names& save, const Names& drop) {
    RunSettings settings;
    settings.save = save;
    settings.drop = drop;
    return recorded_columns(names, settings);
  };
  EXPECT_EQ(chosen({}, {}), (Columns{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(chosen({"mu"}, {}), (Columns{0}));
  EXPECT_EQ(chosen({"theta"}, {}), (Columns{2, 3, 4}));
  EXPECT_EQ(chosen({"theta*"}, {}), (Columns{2, 3, 4, 6}));
  EXPECT_EQ(chosen({"theta.?"}, {}), (Columns{2, 3}));
  EXPECT_EQ(chosen({"z"}, {}), (Columns{5}));
  EXPECT_EQ(chosen({}, {"theta", "mu"}), (Columns{1, 5, 6}));
  EXPECT_EQ(chosen({"theta", "tau"}, {"theta.2"}), (Columns{1, 2, 4}));
  EXPECT_THROW(chosen({"nu"}, {}), ConfigError);
  EXPECT_THROW(chosen({}, {"nu"}), ConfigError);
  EXPECT_THROW(chosen({}, {"*"}), ConfigError);
}

}  // namespace
}  // namespace rehmc::run_settings_test
