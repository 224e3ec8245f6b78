// Which quantities are log likelihoods and predictions, and which data they are about.
#include "rehmc/job/predictive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "src/job/data_arrays.hpp"

namespace rehmc::predictive_test {
namespace {

using Columns = std::vector<std::size_t>;

std::vector<Quantity> recorded() {
  std::vector<Quantity> quantities{{"y_rep_sd"}, {"mu"}};  // parameters
  for (const char* name : {"log_lik.1", "log_lik.2", "y_rep.1", "z_rep.1", "pair.1:2", "other"}) {
    quantities.push_back({.name = name, .generated = true});
  }
  return quantities;
}

TEST(Predictive, usual_names_of_generated_quantities) {
  const PredictiveColumns columns = predictive_columns({}, recorded());
  EXPECT_EQ(columns.log_likelihood, (Columns{2, 3}));
  EXPECT_EQ(columns.predictive, (Columns{4, 5}));
}

TEST(Predictive, names_that_are_asked_for) {
  RunSettings settings;
  settings.log_lik = {"other", "mu"};
  settings.predictive = {"pair", "z*"};
  const PredictiveColumns columns = predictive_columns(settings, recorded());
  EXPECT_EQ(columns.log_likelihood, (Columns{1, 7}));
  EXPECT_EQ(columns.predictive, (Columns{5, 6}));
}

TEST(Predictive, patterns_that_match_nothing) {
  for (const auto member : {&RunSettings::log_lik, &RunSettings::predictive}) {
    RunSettings settings;
    settings.*member = {"mu", "nowhere"};
    try {
      predictive_columns(settings, recorded());
      FAIL() << "nothing was thrown";
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("'nowhere' matches no"), std::string::npos);
    }
  }
}

TEST(Predictive, needs_draws) {
  RunSettings settings;
  settings.store_draws = false;
  settings.check();
  settings.log_lik = {"log_lik"};
  EXPECT_THROW(settings.check(), ConfigError);
}

TEST(Predictive, what_predictions_are_about) {
  EXPECT_EQ(predicted_name("y_rep"), "y");
  EXPECT_EQ(predicted_name("count_pred"), "count");
  EXPECT_EQ(predicted_name("next"), "next");
}

TEST(DataArrays, numbers_and_full_grids) {
  const auto arrays = data_arrays(
      R"({"N": 2, "x": [[1, 2, 3], [4, 5, NaN]], "y": [0.5, -Infinity], "ragged": [[1], [1, 2]],
          "none": [], "pair": {"1": 2}, "deep": [1, [2]], "text": "?"})");
  ASSERT_EQ(arrays.size(), 3U);
  EXPECT_TRUE(arrays.at("N").shape.empty());
  EXPECT_EQ(arrays.at("N").values, std::vector<double>{2});
  EXPECT_EQ(arrays.at("x").shape, (Columns{2, 3}));
  EXPECT_EQ(arrays.at("x").values[3], 4);
  EXPECT_TRUE(std::isnan(arrays.at("x").values[5]));
  EXPECT_EQ(arrays.at("y").values[1], -HUGE_VAL);
  EXPECT_TRUE(data_arrays("[1, 2]").empty());
  EXPECT_TRUE(data_arrays("{").empty());
}

}  // namespace
}  // namespace rehmc::predictive_test
