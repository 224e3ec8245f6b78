// The built-in targets by name: right densities from data, identities, and errors that help.
#include "models/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/model/check_gradient.hpp"
#include "tests/model/messages.hpp"
#include "tests/models/targets.hpp"

namespace rehmc::testing::registry_test {
namespace {

BuiltModel make(const std::string& name, const std::string& data) {
  return make_model(name, data, "data.json");
}
BuiltModel make(const std::string& name) { return make_model(name, "", ""); }

std::string data_fault(const std::string& name, const std::string& data) {
  return message_of<DataError>([&] { make(name, data); });
}

/// Whether two densities agree in value and gradient at a few points.
void expect_same(Density a, Density b) {
  ASSERT_EQ(a.dimension(), b.dimension());
  EXPECT_EQ(a.names(), b.names());
  std::vector<double> x(a.dimension()), gradient(x.size()), other(x.size());
  Stream stream({.seed = 4}, Purpose::test);
  for (int repeat = 0; repeat < 3; ++repeat) {
    stream.fill_normal(x);
    EXPECT_EQ(a(x, gradient), b(x, other));
    EXPECT_EQ(gradient, other);
  }
}

TEST(Registry, KnowsTheTargets) {
  std::vector<std::string> names;
  for (const ModelInfo& info : built_in_models()) {
    names.push_back(info.name);
    EXPECT_FALSE(info.summary.empty() || info.description.empty() || info.data_help.empty());
    EXPECT_EQ(info.summary.find('\n'), std::string::npos);
    EXPECT_EQ(&model_info(info.name), &model_info(std::string(info.name)));
    EXPECT_EQ(model_info(info.name).summary, info.summary);
  }
  const std::vector<std::string> expected{"standard-normal",
                                          "diagonal-normal",
                                          "correlated-normal",
                                          "banana",
                                          "funnel",
                                          "eight-schools",
                                          "eight-schools-centred",
                                          "student-t",
                                          "log-exponential",
                                          "two-mode-mixture",
                                          "linear-regression",
                                          "logistic-regression",
                                          "hierarchical-logistic",
                                          "varying-intercepts",
                                          "stochastic-volatility",
                                          "cox-process",
                                          "cox-process-whitened"};
  // A new model may come anywhere among these; none of them may be removed or change its position.
  std::vector<std::string> old_ones;
  std::copy_if(names.begin(), names.end(), std::back_inserter(old_ones), [&](const auto& name) {
    return std::find(expected.begin(), expected.end(), name) != expected.end();
  });
  EXPECT_EQ(old_ones, expected);
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size()) << "a name stands twice";
}

// Uses only the models' own descriptions: a new model needs no line here.
TEST(Registry, EveryGradientIsThatOfItsLogDensity) {
  for (const ModelInfo& info : built_in_models()) {
    const Density density = make(info.name, info.data_example).density;
    Stream stream({.seed = 7}, Purpose::test);
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::vector<double> x(density.dimension());
      for (double& entry : x) entry = 4 * stream.uniform() - 2;
      for (const DerivativeCheck& entry : check_gradient(density, x)) {
        EXPECT_TRUE(entry.ok) << info.name << ", " << entry.name << ": analytic " << entry.analytic
                              << ", numeric " << entry.numeric;
      }
    }
  }
}

TEST(Registry, MakesEveryTargetFromNothingAndFromItsExample) {
  for (const ModelInfo& info : built_in_models()) {
    SCOPED_TRACE(info.name);
    const BuiltModel from_nothing = make(info.name);
    EXPECT_GE(from_nothing.density.dimension(), 2u);
    if (info.name.starts_with("cox-process")) {
      EXPECT_EQ(from_nothing.density.dimension(), 4096u);
    }
    EXPECT_GE(make(info.name, info.data_example).density.dimension(), 2u);
    EXPECT_EQ(from_nothing.name, info.name);
  }
}

TEST(Registry, DefaultsAreTheDocumentedOnes) {
  expect_same(make("standard-normal").density, StandardNormal(10));
  expect_same(make("diagonal-normal").density, wishart_diagonal_normal(250));
  expect_same(make("correlated-normal").density, CorrelatedNormal(wishart_draw({})));
  expect_same(make("banana").density, Banana());
  expect_same(make("funnel").density, Funnel());
  expect_same(make("eight-schools").density, EightSchoolsNonCentred());
  expect_same(make("eight-schools-centred").density, EightSchoolsCentred());
  expect_same(make("student-t").density, StudentT(10, 5));
  expect_same(make("log-exponential").density, LogExponential(10));
  expect_same(make("logistic-regression").density, LogisticRegression(simulate_logistic_data({})));
  expect_same(make("linear-regression").density, LinearRegression(simulate_linear_data({})));
  expect_same(make("hierarchical-logistic").density,
              HierarchicalLogistic(with_interactions(simulate_attributes({}))));
  EXPECT_EQ(make("hierarchical-logistic").density.dimension(), 302U);
  expect_same(make("two-mode-mixture").density, TwoModeMixture());
  expect_same(make("stochastic-volatility").density, StochasticVolatility(simulate_returns({})));
  EXPECT_EQ(make("stochastic-volatility").density.dimension(), 3000U);
  expect_same(make("varying-intercepts").density,
              VaryingIntercepts(simulate_varying_intercepts({})));
}

TEST(Registry, AcceptsData) {
  expect_same(make("standard-normal", R"({"dimension": 250})").density, StandardNormal(250));
  expect_same(make("diagonal-normal", R"({"standard_deviations": [1, 2.5]})").density,
              DiagonalNormal(std::vector{1, 2.5}));
  expect_same(
      make("correlated-normal", R"({"seed": 3, "degrees_of_freedom": 9, "dimension": 4})").density,
      CorrelatedNormal(wishart_draw({.dimension = 4, .degrees_of_freedom = 9, .seed = 3})));
  expect_same(make("correlated-normal", R"({"dimension": 4})").density,
              CorrelatedNormal(wishart_draw({.dimension = 4, .degrees_of_freedom = 4})));
  expect_same(make("banana", R"({"y": -3})").density, Banana(-3));
  expect_same(make("funnel", R"({"dimension": 2})").density, Funnel(2));
  expect_same(make("student-t", R"({"dimension": 3, "degrees_of_freedom": 1.5})").density,
              StudentT(3, 1.5));
  const CoxSettings cox{.size = 2, .length_scale = 0.5, .variance = 2, .expected_points = 30};
  expect_same(make("cox-process", R"({"counts": [[1, 0], [7, 2]], "length_scale": 0.5,
                                      "variance": 2, "expected_points": 30})")
                  .density,
              CoxProcess(cox, std::vector<std::uint64_t>{1, 0, 7, 2}));
  expect_same(make("cox-process", R"({"size": 3, "seed": 5})").density,
              CoxProcess({.size = 3}, simulate_cox_counts({.size = 3}, 5)));
  expect_same(make("two-mode-mixture", R"({"dimension": 3, "distance": 6.5})").density,
              TwoModeMixture({.dimension = 3, .distance = 6.5}));
  const std::vector<double> closes{100, 103, 99.5};
  expect_same(make("stochastic-volatility", R"({"closes": [100, 103, 99.5]})").density,
              StochasticVolatility(returns_of_closes(closes)));
  expect_same(make("stochastic-volatility", R"({"returns": [0.01, -0.02]})").density,
              StochasticVolatility(std::vector{0.01, -0.02}));
  expect_same(make("stochastic-volatility", R"({"days": 7, "seed": 5})").density,
              StochasticVolatility(simulate_returns({.days = 7, .seed = 5})));
  expect_same(make("eight-schools", R"({"J": 2, "y": [1, -2], "sigma": [3, 0.5]})").density,
              EightSchoolsNonCentred({.effects = {1, -2}, .standard_errors = {3, 0.5}}));
  expect_same(make("eight-schools-centred", R"({"y": [1, -2], "sigma": [3, 0.5]})").density,
              EightSchoolsCentred({.effects = {1, -2}, .standard_errors = {3, 0.5}}));
  const LogisticData rows{
      .observations = 3, .predictors = 2, .x = {1, 2, 1, 3, 1, 4}, .y = {0, 1, 1}};
  expect_same(make("logistic-regression",
                   R"({"x": [[1, 2], [1, 3], [1, 4]], "y": [0, 1, 1], "prior_sd": 2})")
                  .density,
              LogisticRegression(rows, 2));
  expect_same(
      make("logistic-regression", R"({"observations": 20, "predictors": 3, "seed": 5})").density,
      LogisticRegression(simulate_logistic_data({.observations = 20, .predictors = 3, .seed = 5})));
}

TEST(Registry, AcceptsDataOfRegressions) {
  const LinearData rows{
      .observations = 3, .predictors = 2, .x = {1, 2, 1, 3, 1, 4}, .y = {0.5, 1, -2}};
  expect_same(make("linear-regression", R"({"x": [[1, 2], [1, 3], [1, 4]], "y": [0.5, 1, -2],
                                            "prior_sd": 2, "sigma_prior_sd": 3})")
                  .density,
              LinearRegression(rows, {.beta_sd = 2, .sigma_sd = 3}));
  expect_same(make("linear-regression",
                   R"({"observations": 20, "predictors": 3, "correlation": -0.2, "seed": 5})")
                  .density,
              LinearRegression(simulate_linear_data(
                  {.observations = 20, .predictors = 3, .correlation = -0.2, .seed = 5})));
  expect_same(make("varying-intercepts", R"({"group": [2, 1, 2], "x": [1, 2, 3], "y": [4, 5, 6],
                                             "prior_sd": 2, "scale_prior_sd": 3})")
                  .density,
              VaryingIntercepts({.group = {2, 1, 2}, .x = {1, 2, 3}, .y = {4, 5, 6}},
                                {.location_sd = 2, .scale_sd = 3}));
  expect_same(
      make("varying-intercepts", R"({"groups": 4, "observations": 20, "seed": 5})").density,
      VaryingIntercepts(simulate_varying_intercepts({.groups = 4, .observations = 20, .seed = 5})));
  const LogisticData logistic{
      .observations = 3, .predictors = 2, .x = {1, 2, 1, 3, 1, 4}, .y = {0, 1, 1}};
  expect_same(
      make("hierarchical-logistic", R"({"x": [[1, 2], [1, 3], [1, 4]], "y": [0, 1, 1]})").density,
      HierarchicalLogistic(logistic));
  expect_same(
      make("hierarchical-logistic", R"({"attributes": [[1, 2], [4, 3], [2, 5]], "y": [0, 1, 1]})")
          .density,
      HierarchicalLogistic(with_interactions(
          {.observations = 3, .attributes = 2, .values = {1, 2, 4, 3, 2, 5}, .y = {0, 1, 1}})));
  expect_same(
      make("hierarchical-logistic", R"({"observations": 40, "number_of_attributes": 3, "seed": 5})")
          .density,
      HierarchicalLogistic(with_interactions(
          simulate_attributes({.observations = 40, .attributes = 3, .seed = 5}))));
  EXPECT_EQ(make("varying-intercepts", R"({"groups": 2000})").density.dimension(), 2004U);
}

TEST(Registry, IdentityIsOfTheDensityNotOfItsText) {
  const std::string identity = make("standard-normal").identity;
  EXPECT_EQ(identity.size(), 32u);
  EXPECT_EQ(make("standard-normal", "{}").identity, identity);
  EXPECT_EQ(make("standard-normal", R"({"dimension": 10})").identity, identity);
  EXPECT_EQ(make("standard-normal", "{\n\"dimension\" : 1e1 }").identity, identity);
  EXPECT_EQ(make_model("standard-normal", "{}", "other.json").identity, identity);
  EXPECT_EQ(make("eight-schools", model_info("eight-schools").data_example).identity,
            make("eight-schools").identity);

  std::set<std::string> different{identity,
                                  make("standard-normal", R"({"dimension": 11})").identity,
                                  make("log-exponential").identity, make("eight-schools").identity,
                                  make("eight-schools-centred").identity};
  // The same numbers in matrices of different shape.
  different.insert(make("logistic-regression", R"({"x": [[1, 2], [3, 4]], "y": [0, 1]})").identity);
  different.insert(
      make("logistic-regression", R"({"x": [[1], [2], [3], [4]], "y": [0, 1, 0, 1]})").identity);
  EXPECT_EQ(different.size(), 7u);
}

// A run folder is resumed only if its model has the identity that its manifest names: these must
// not change as long as name, version and data mean the same density.
TEST(Registry, IdentitiesAreThoseOfEarlierReleases) {
  struct Identity {
    const char* name;
    const char* by_default;
    const char* of_example;
  };
  const Identity identities[] = {
      {"standard-normal", "2c22e4678e52da692c32027eb87e806e", "8430d9c40dbab8e8fe2bf94a28878a82"},
      {"diagonal-normal", "7acec922d657316d462d6ecf3820f193", "19e79cace88f4120db7aabc5c525a8b0"},
      {"correlated-normal", "59bf8383c63327a5e959b42709dd83e6", "15d2d18ed03ed9bc837d033b391c9a0f"},
      {"banana", "29723af8728e78daa7b69b399a09fc1a", "29723af8728e78daa7b69b399a09fc1a"},
      {"funnel", "22069776c47f149ae76f5132cffc7010", "22069776c47f149ae76f5132cffc7010"},
      {"eight-schools", "69adc97f9ad128b3b4a7ffb41fe45315", "69adc97f9ad128b3b4a7ffb41fe45315"},
      {"eight-schools-centred", "41695cf6d8f3d747513da05af519d6ff",
       "41695cf6d8f3d747513da05af519d6ff"},
      {"student-t", "d4312085b14d403c963873603ac7913e", "d4312085b14d403c963873603ac7913e"},
      {"log-exponential", "96e04e3b4ea10ca90410bb2a0c359541", "96e04e3b4ea10ca90410bb2a0c359541"},
      {"two-mode-mixture", "1630cce7966c20575ac67f35d2314691", "19585db257d9c7725be5b250ac8dcfc9"},
      {"linear-regression", "8b9aaee349b2ca5fc7f4c490677f5066", "dc7f734f87f3de6d8c463d111a0fd67e"},
      {"logistic-regression", "95a18f491507c955d21b345d05f372f6",
       "20e0c4d96b31960de250b77e2f2b373e"},
      {"hierarchical-logistic", "bc77fdb5d99e47709d4dd2a52385feec",
       "86666af1c3814c73ff3c2ecafda2cd62"},
      {"varying-intercepts", "3cd09655033f37f433d52613d063c946",
       "5587c414dd01fc3163e038e090e14bdd"},
      {"stochastic-volatility", "9f86a49e36f2f97a913725184fbbc9a7",
       "b83850c5c97c03732182c556f7e3999e"},
      {"cox-process", "7ebf21d6536b78786356e7ad9e7d58ff", "86abbebd98346d64a27606299114e05d"},
      {"cox-process-whitened", "47bfeadb5b1652d3928ce8250f76600d",
       "c6ea618569755fdce211c43f7bff0e31"}};
  for (const Identity& expected : identities) {
    EXPECT_EQ(make(expected.name).identity, expected.by_default) << expected.name;
    EXPECT_EQ(make(expected.name, model_info(expected.name).data_example).identity,
              expected.of_example)
        << expected.name;
  }
}

TEST(Registry, UnknownNamesGetTheNearest) {
  const auto message = [](const std::string& name) {
    return message_of<ConfigError>([&] { make(name); });
  };
  expect_says(message("eigth-schools"),
              {"'eigth-schools'", "did you mean 'eight-schools'?", "`rehmc models`"});
  expect_says(message("Funnel"), {"did you mean 'funnel'?"});
  expect_says(message("xyzzy"), {"'xyzzy'.", "`rehmc models`"});
  EXPECT_EQ(message("xyzzy").find("did you mean"), std::string::npos);
}

TEST(Registry, TextThatIsNotJsonIsReportedWithItsPosition) {
  expect_says(data_fault("banana", ""), {"data.json is not JSON", "line 1, column 1"});
  expect_says(data_fault("banana", "{\"y\": 1,\n  oops}"), {"line 2, column 3"});
  // Bare NaN is put in quotes for the parser; positions must not shift.
  expect_says(data_fault("banana", "{\"y\": [NaN, -Infinity, Inf], oops}"), {"line 1, column 30"});
  expect_says(data_fault("banana", "{\"y\": 1"), {"not JSON", "end of input"});
  expect_says(data_fault("banana", "{\"y\": \"\xff\"}"), {"not JSON", "UTF-8"});
  expect_says(data_fault("banana", "[1]"), {"a list of length 1", "an object such as {\"y\""});
  expect_says(data_fault("banana", R"({"y": 1, "y": 2})"), {"y: found the key twice"});
  expect_says(data_fault("banana", R"({"y": 1e999})"), {"data.json", "1e999"});
}

TEST(Registry, UnknownKeysGetTheNearestAndAllKnown) {
  expect_says(
      data_fault("student-t", R"({"dimensions": 3})"),
      {"data.json", "'dimensions'", "did you mean 'dimension'?", "dimension, degrees_of_freedom"});
  expect_says(data_fault("banana", R"({"zebra": 3})"), {"'zebra'.", "Known keys: y."});
}

void says(const std::string& model, const std::string& data,
          std::initializer_list<std::string_view> parts) {
  const std::string message = data_fault(model, data);
  expect_says(message, {"data.json: "});
  expect_says(message, parts);
}

TEST(Registry, BadNumbersAreNamedWithTheirPosition) {
  says("banana", R"({"y": NaN})", {"y: found nan", "finite"});
  says("banana", R"({"y": "NaN"})", {"y: found nan", "finite"});
  says("banana", R"({"y": "+inf"})", {"y: found inf", "finite"});
  says("banana", R"({"y": "one"})", {"y: found the string \"one\"", "a number"});
  says("banana", R"({"y": true})", {"y: found true"});
  says("banana", R"({"y": null})", {"y: found null"});
  says("banana", R"({"y": [1]})", {"y: found a list of length 1"});
  says("banana", R"({"y": 1001})", {"found 1001", "[-1000, 1000]"});
  for (const char* wrong : {"0", "-1", "1e300", "2.5", "\"Infinity\"", "[]"}) {
    says("standard-normal", std::string("{\"dimension\": ") + wrong + "}", {"dimension: found"});
  }
  says("funnel", R"({"dimension": 1})", {"dimension: found 1", "[2,"});
  says("correlated-normal", R"({"dimension": 9, "degrees_of_freedom": 8})",
       {"degrees_of_freedom: found 8", "[9,"});
  says("correlated-normal", R"({"dimension": 100000})", {"dimension", "5000"});
  says("correlated-normal", R"({"seed": -1})", {"seed: found -1"});
  says("diagonal-normal", R"({"standard_deviations": []})", {"a list of length 0"});
  says("diagonal-normal", R"({"standard_deviations": [1, 0]})",
       {"standard_deviations[2]: found 0"});
  says("diagonal-normal", R"({"standard_deviations": [1], "seed": 1})",
       {"seed", "together with 'standard_deviations'"});
  says("student-t", R"({"degrees_of_freedom": 0})", {"degrees_of_freedom: found 0"});

  says("eight-schools", R"({"y": [1, 2]})", {"sigma: found no such key", "'y' is given"});
  says("eight-schools", R"({"J": 8})", {"y: found no such key", "'J' is given"});
  says("eight-schools", R"({"y": [1, 2], "sigma": [1]})", {"sigma: found a list of length 1", "2"});
  says("eight-schools", R"({"J": 3, "y": [1, 2], "sigma": [1, 2]})", {"J: found 3, expected 2"});
  says("eight-schools", R"({"y": [1, NaN], "sigma": [1, 2]})", {"y[2]: found nan"});
  says("eight-schools", R"({"y": [1, 2], "sigma": [1, -2]})", {"sigma[2]: found -2"});
}

TEST(Registry, BadDataOfRegressionsAreNamedWithTheirPosition) {
  says("logistic-regression", R"({"x": [1, 2], "y": [0, 1]})", {"x[1]: found 1", "a row"});
  says("logistic-regression", R"({"x": [[1, 2], [1]], "y": [0, 1]})",
       {"x[2]: found a row of length 1", "2 numbers"});
  says("logistic-regression", R"({"x": [[1, 2], [1, "a"]], "y": [0, 1]})", {"x[2][2]", "\"a\""});
  says("logistic-regression", R"({"x": [[1, 2], [-Infinity, 1]], "y": [0, 1]})",
       {"x[2][1]: found -inf"});
  says("logistic-regression", R"({"x": [[1], [2]], "y": [0]})", {"y: found a list of length 1"});
  says("logistic-regression", R"({"x": [[1], [2]], "y": [0, 2]})", {"y[2]: found 2"});
  says("logistic-regression", R"({"x": [[1], [2]], "y": [0, 0.5]})", {"y[2]: found 0.5", "0 or 1"});
  says("logistic-regression", R"({"x": [[1]], "y": [0], "seed": 1})",
       {"seed", "together with 'x'"});
  says("logistic-regression", R"({"y": [0]})", {"x: found no such key"});

  says("linear-regression", R"({"x": [[1], [2]], "y": [0.5]})", {"y: found a list of length 1"});
  says("linear-regression", R"({"x": [[1]], "y": [1], "correlation": 0})",
       {"correlation", "together with 'x'"});
  says("linear-regression", R"({"correlation": 1})", {"correlation: found 1"});
  says("hierarchical-logistic", R"({"x": [[1]], "attributes": [[1]], "y": [1]})",
       {"attributes", "together with 'x'"});
  says("hierarchical-logistic", R"({"attributes": [[1], [2]]})", {"y: found no such key"});
  says("hierarchical-logistic", R"({"attributes": [[1], [2]], "y": [1]})",
       {"y: found a list of length 1", "2 numbers"});
  says("hierarchical-logistic", R"({"attributes": [[1]], "y": [1], "seed": 1})",
       {"seed", "together with 'attributes'"});
  says("hierarchical-logistic", R"({"attributes": [[1], [1]], "y": [1, 0]})",
       {"column 1 is the same in every row"});
}

TEST(Registry, BadDataOfSeriesFieldsAndGroupsAreNamedWithTheirPosition) {
  says("stochastic-volatility", R"({"closes": [100, 101, 101]})", {"closes 2 and 3", "leave out"});
  says("stochastic-volatility", R"({"closes": [100]})", {"1 closes", "at least two"});
  says("stochastic-volatility", R"({"closes": [100, -1]})", {"closes[2]: found -1"});
  says("stochastic-volatility", R"({"returns": [0.1, 0]})", {"return 2 is 0"});
  says("stochastic-volatility", R"({"returns": [0.1], "closes": [1, 2]})",
       {"together with 'closes'"});
  says("stochastic-volatility", R"({"returns": [0.1], "days": 2})", {"together with 'returns'"});
  says("cox-process", R"({"counts": [[1, 0]]})", {"counts: found 1 rows of 2 numbers", "square"});
  says("cox-process", R"({"counts": [[1, 0], [1, 0.5]]})", {"counts[2][2]: found 0.5", "whole"});
  says("cox-process", R"({"counts": [[1, 0], [-1, 0]]})", {"counts[2][1]: found -1"});
  says("cox-process", R"({"counts": [[1, 0], [1, 1]], "size": 2})",
       {"size", "together with 'counts'"});
  says("cox-process", R"({"size": 129})", {"size: found 129"});
  says("two-mode-mixture", R"({"distance": -1})", {"distance: found -1"});
  says("varying-intercepts", R"({"group": [1, 3], "x": [1, 2], "y": [1, 2]})",
       {"found group 3", "no observation of group 2"});
  says("varying-intercepts", R"({"group": [1, 1.5], "x": [1, 2], "y": [1, 2]})",
       {"group[2]: found 1.5", "whole"});
  says("varying-intercepts", R"({"group": [1, 2], "x": [1], "y": [1, 2]})",
       {"x: found a list of length 1", "one for each of group"});
  says("varying-intercepts", R"({"group": [1, 2], "y": [1, 2]})", {"x: found no such key"});
  says("varying-intercepts", R"({"groups": 9, "observations": 8})", {"observations: found 8"});
}

}  // namespace
}  // namespace rehmc::testing::registry_test
