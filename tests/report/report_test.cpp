// The report's page as text: structure, data, size, and degenerate runs.
#include "rehmc/report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "models/eight_schools.hpp"
#include "models/standard_normal.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/summary/run_summary.hpp"
#include "tests/output/records.hpp"

namespace rehmc::report_test {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_bytes = 6'000'000;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string page_of(const SampleResult& result, const ReportInfo& info = {}) {
  return report_page(result, summarise_run(result), info);
}

/// What the page's script reads: everything up to the end of its script element.
Json data_of(const std::string& page) {
  const std::string opening = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page.find(opening) + opening.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

SampleResult short_run(const Density& density, const char* recycling = "spread:4", int draws = 200,
                       int chains = 4) {
  SampleSettings settings;
  settings.seed = 8;
  settings.draws = draws;
  settings.chains = chains;
  settings.warmup.iterations = 200;
  settings.kernel.recycling = parse_recycling(recycling);
  return sample(density, settings);
}

/// Independent normal draws instead of a run, with `kept` states per draw.
SampleResult made_up(std::size_t dimension, std::size_t chains, std::size_t draws,
                     std::size_t kept) {
  SampleResult result;
  result.kernel.recycling = parse_recycling(kept > 0 ? "spread:8" : "none");
  for (std::size_t p = 0; p < dimension; ++p) result.names.push_back("x." + std::to_string(p + 1));
  for (std::size_t c = 0; c < chains; ++c) {
    ChainRecord record = testing::empty_record(dimension, draws);
    Stream stream({9, static_cast<std::uint32_t>(c), 0}, Purpose::test);
    record.draws.resize(draws * dimension);
    stream.fill_normal(record.draws);
    record.log_density.assign(draws, 0.0);
    record.ending.assign(draws, Ending::turned);
    record.mass.assign(draws, 1.0);
    record.energy.resize(draws);
    stream.fill_normal(record.energy);
    if (kept > 0) {
      record.mean_offset = record.draws;
      record.mean_square = record.draws;
      for (double& x : record.mean_square) x *= x;
      record.kept.resize(draws * dimension * kept);
      stream.fill_normal(record.kept);
      record.kept_weight.assign(draws * kept, 1.0 / static_cast<double>(kept));
      for (std::size_t i = 1; i <= draws; ++i) record.kept_end.push_back(i * kept);
    }
    result.chains.emplace_back().record = std::move(record);
  }
  return result;
}

/// A summary with made-up numbers, for wide runs.
RunSummary made_up_summary(const SampleResult& result) {
  RunSummary summary;
  for (const std::string& name : result.names) {
    ParameterSummary& row = summary.parameters.emplace_back();
    row.name = name;
    row.plain = {-1.0 / 3, 1.0 / 3e3, 1e5 / 3, 1e-5 / 3, 1.0 / 3e3, 1e5 / 3, {}, {}};
    for (const double p : standard_probabilities) {
      row.plain.quantiles.push_back({p, -1e-7 / 3, 1.0 / 3, 1e4 / 3});
    }
    row.convergence = {4.0 / 3, 1e4 / 3, 1e4 / 3, {}};
    row.recycled = row.plain;
    row.sharpened.emplace().estimate = row.plain;
    row.sharpened->quantile_sets.assign(standard_probabilities.size(), FeatureSet::bounded_linear);
  }
  return summary;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Report, IsOneSelfContainedPage) {
  const std::string page = page_of(short_run(EightSchoolsNonCentred{}));
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(count_of(page, "<script"), count_of(page, "</script>"));
  EXPECT_EQ(count_of(page, "<script src"), 0U);
  EXPECT_EQ(count_of(page, "<link rel=\"stylesheet"), 0U);
  EXPECT_EQ(count_of(page, "@import"), 0U);
  EXPECT_NE(page.find("Chart.js v"), std::string::npos);
  for (const char* part : {"{{title}}", "{{data}}", ".js}}", ".css}}"}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
  EXPECT_NE(page.find("10.1214/19-BA1171"), std::string::npos);
}

TEST(Report, TableShowsTheSummary) {
  const SampleResult result = short_run(EightSchoolsNonCentred{});
  const RunSummary summary = summarise_run(result);
  const Json data = data_of(report_page(result, summary, {}));
  ASSERT_EQ(data["parameters"].size(), result.names.size());
  for (std::size_t p = 0; p < result.names.size(); ++p) {
    const Json& row = data["parameters"][p];
    const ParameterSummary& expected = summary.parameters[p];
    EXPECT_EQ(row["name"], expected.name);
    const auto near = [](const Json& found, double wanted, double relative) {
      EXPECT_NEAR(found.get<double>(), wanted, relative * std::abs(wanted));
    };
    near(row["plain"][0], expected.plain.mean, 1e-8);
    near(row["plain"][1], expected.plain.mcse_mean, 1e-3);
    near(row["plain"][2], expected.plain.sd, 1e-5);
    near(row["quantiles"][1], expected.plain.quantiles[1].value, 1e-5);
    near(row["convergence"][0], expected.convergence.ess_bulk, 1e-4);
    near(row["convergence"][1], expected.convergence.ess_tail, 1e-4);
    near(row["convergence"][2], expected.convergence.rhat, 1e-5);
    near(row["recycled"][0], expected.recycled->mean, 1e-8);
    near(row["recycled"][1], expected.recycled->mcse_mean, 1e-3);
    near(row["recycled"][2], expected.recycled->ess_mean, 1e-4);
    near(row["gain"][0], std::pow(expected.plain.mcse_mean / expected.recycled->mcse_mean, 2),
         1e-3);
    near(row["gain"][1], std::pow(expected.plain.mcse_sd / expected.recycled->mcse_sd, 2), 1e-3);
    near(row["gain"][2], expected.recycled->quantiles[6].ess / expected.plain.quantiles[6].ess,
         1e-3);
  }
}

TEST(Report, ShowsSharpenedEstimatesWithTheirGains) {
  const SampleResult result = short_run(StandardNormal(3), "spread:4", 500);
  RunSummary summary = summarise_run(result);
  ASSERT_TRUE(summary.parameters[0].sharpened.has_value());
  summary.parameters[1].sharpened.reset();
  summary.parameters[1].not_sharpened = "R-hat is 1.200, above 1.01";
  const Json data = data_of(report_page(result, summary, {}));
  const Json& row = data["parameters"][0];
  const Estimate& plain = summary.parameters[0].plain;
  const Estimate& sharpened = summary.parameters[0].sharpened->estimate;
  const auto near = [](const Json& found, double wanted, double relative) {
    EXPECT_NEAR(found.get<double>(), wanted, relative * std::abs(wanted));
  };
  near(row["sharpened"][0], sharpened.mean, 1e-8);
  near(row["sharpened"][1], sharpened.mcse_mean, 1e-3);
  near(row["sharpened"][2], sharpened.ess_mean, 1e-4);
  near(row["sharpened"][3], sharpened.ess_sd, 1e-4);
  near(row["sharpened"][4], sharpened.quantiles[6].ess, 1e-4);
  near(row["sharpened_gain"][0], std::pow(plain.mcse_mean / sharpened.mcse_mean, 2), 1e-3);
  near(row["sharpened_gain"][1], std::pow(plain.mcse_sd / sharpened.mcse_sd, 2), 1e-3);
  near(row["sharpened_gain"][2], sharpened.quantiles[6].ess / plain.quantiles[6].ess, 1e-3);
  // For a normal, control variates remove almost all variance.
  EXPECT_GT(row["sharpened_gain"][0], 1000);
  near(row["estimates"]["sharpened"][1][0], sharpened.sd, 1e-8);
  near(row["estimates"]["sharpened"][8][0], sharpened.quantiles[6].value, 1e-8);
  near(row["estimates"]["sharpened"][8][1], sharpened.quantiles[6].mcse, 1e-2);
  near(row["estimates"]["plain"][0][0], plain.mean, 1e-8);
  EXPECT_EQ(row["estimates"]["features"].size(), 9U);
  EXPECT_EQ(row["estimates"]["features"][0], describe(summary.parameters[0].sharpened->mean_set));

  EXPECT_FALSE(data["parameters"][1].contains("sharpened"));
  EXPECT_EQ(data["parameters"][1]["not_sharpened"], "R-hat is 1.200, above 1.01");
}

TEST(Report, ShowsTheGradientChecks) {
  const SampleResult result = short_run(StandardNormal(3), "spread:4", 500);
  RunSummary summary = summarise_run(result);
  Json gradients = data_of(report_page(result, summary, {}))["gradients"];
  EXPECT_EQ(gradients["stein"]["passed"], true);
  EXPECT_NEAR(gradients["stein"]["worst"], summary.sharpening.check->worst, 1e-3);
  EXPECT_NEAR(gradients["stein"]["limit"], summary.sharpening.check->limit, 1e-3);
  EXPECT_EQ(gradients["stein"]["refuses"], false);
  EXPECT_NEAR(gradients["stein"]["refusal_limit"], summary.sharpening.check->refusal_limit, 1e-3);
  EXPECT_EQ(gradients["stein"]["features"], summary.sharpening.check->features);
  EXPECT_EQ(gradients["spot"]["passed"], true);
  EXPECT_FALSE(gradients.contains("refused"));

  summary.sharpening.check->worst = 40;
  summary.sharpening.spot_check.passed = false;
  summary.sharpening.spot_check.where = "x.2";
  summary.sharpening.refused = "the gradient is not that of the log density";
  gradients = data_of(report_page(result, summary, {}))["gradients"];
  EXPECT_EQ(gradients["stein"]["passed"], false);
  EXPECT_EQ(gradients["stein"]["refuses"], true);
  EXPECT_EQ(gradients["spot"]["passed"], false);
  EXPECT_EQ(gradients["spot"]["where"], "x.2");
  EXPECT_EQ(gradients["refused"], summary.sharpening.refused);

  SampleResult without = result;
  for (ChainResult& chain : without.chains) chain.record.gradients = KeptGradients::no;
  EXPECT_FALSE(data_of(page_of(without))["gradients"].contains("stein"));
}

TEST(Report, PlotsShowTheDraws) {
  const SampleResult result = made_up(3, 4, 500, 2);
  const Json data = data_of(page_of(result));
  const Json& points = data["points"];
  ASSERT_EQ(points["regular"], 2000);
  for (std::size_t p = 0; p < 3; ++p) {
    const Json& row = data["parameters"][p];
    const Json& values = row["values"];
    const double least = values["least"];
    const double range = values["most"].get<double>() - least;
    for (std::size_t i = 0; i < 2000; ++i) {
      const ChainRecord& record = result.chains[points["chain"][i].get<std::size_t>()].record;
      const double x = record.draw(points["draw"][i].get<std::size_t>())[p];
      const double shown = least + range * values["parts"][i].get<double>() / 99999;
      ASSERT_NEAR(shown, x, 1e-5 * range);
    }
    for (const Json& chain : row["ranks"]) {
      const auto counts = chain.get<std::vector<int>>();
      EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 500);
    }
    // Both curves are close to the normal density: its peak, and an integral close to 1.
    const Json& density = row["density"];
    const double width = density["most"].get<double>() - density["least"].get<double>();
    for (const char* curve : {"plain", "recycled"}) {
      const auto heights = density[curve].get<std::vector<double>>();
      EXPECT_NEAR(*std::max_element(heights.begin(), heights.end()), 0.4, 0.05);
      const double sum = std::accumulate(heights.begin(), heights.end(), 0.0);
      EXPECT_NEAR(sum * width / static_cast<double>(heights.size() - 1), 1, 0.02);
    }
  }
}

TEST(Report, RanksRevealAShiftedChain) {
  SampleResult result = made_up(1, 4, 500, 0);
  for (double& x : result.chains[2].record.draws) x += 100;
  const Json ranks = data_of(page_of(result))["parameters"][0]["ranks"];
  for (std::size_t bin = 0; bin < 20; ++bin) {
    EXPECT_EQ(ranks[2][bin], bin < 15 ? 0 : 100);
    if (bin >= 15) {
      EXPECT_EQ(ranks[0][bin], 0);
    }
  }
}

TEST(Report, HostileTextStaysText) {
  SampleResult result = short_run(StandardNormal(4), "spread:2");
  result.names = {"</script><script>alert(1)</script>", "<!--<script>", "a & \"b\"", "\xff\x01\n"};
  ReportInfo info;
  info.title = "</title><script>alert(2)</script>";
  info.command = "rehmc sample '</script>' {{data}}";
  info.settings = {{"init", "</script>", "2", true}, {"chains", "4", "4", false}};
  const std::string page = page_of(result, info);
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(page.find("<script>alert(2)"), std::string::npos);
  EXPECT_EQ(page.find("<!--<script>"), std::string::npos);
  const Json data = data_of(page);
  for (std::size_t p = 0; p < 3; ++p) EXPECT_EQ(data["parameters"][p]["name"], result.names[p]);
  EXPECT_EQ(data["command"], info.command);
  EXPECT_EQ(data["settings"],
            Json::parse(R"([["init", "</script>", "2", true], ["chains", "4", "4", false]])"));
}

TEST(Report, SettingsKeepTheirOrderAndAreBounded) {
  ReportInfo info;
  info.settings = {{"zeta", std::string(5000, 'z')}, {"alpha", "1", "2", true}};
  info.settings.resize(2000, {"more", "2"});
  const Json settings = data_of(page_of(made_up(1, 1, 10, 0), info))["settings"];
  EXPECT_EQ(settings.size(), 300U);
  EXPECT_EQ(settings[0][0], "zeta");
  EXPECT_LT(settings[0][1].get<std::string>().size(), 1100U);
  EXPECT_EQ(settings[1], Json::parse(R"(["alpha", "1", "2", true])"));
}

TEST(Report, AThousandParametersFitIntoTwoMegabytes) {
  const SampleResult result = made_up(1000, 4, 1000, 0);
  const std::string page = report_page(result, made_up_summary(result), {});
  EXPECT_LT(page.size(), 2'000'000U);
  EXPECT_EQ(data_of(page)["parameters"].size(), 1000U);
}

TEST(Report, WideRunsStaySmall) {
  const SampleResult result = made_up(5000, 4, 50, 0);
  const auto summary = made_up_summary(result);
  const std::string page = report_page(result, summary, {});
  EXPECT_LT(page.size(), most_bytes);
  const Json data = data_of(page);
  EXPECT_EQ(data["parameters"].size(), 5000U);
  EXPECT_FALSE(data["omitted"].contains("rows"));
  EXPECT_EQ(data["omitted"]["plotted"], Json::parse("[40, 5000]"));
}

// Names that take six bytes per character in JSON, very long texts, many chains, many divergences,
// a long trajectory: all at once.
TEST(Report, TheWorstRunStaysSmall) {
  SampleResult result = made_up(12000, 16, 40, 0);
  for (std::string& name : result.names) name = std::string(300, '\x01') + name;
  for (ChainResult& chain : result.chains) chain.record.ending.assign(40, Ending::diverged);
  RunSummary summary = made_up_summary(result);
  Diagnostics& diagnostics = summary.diagnostics;
  diagnostics.divergences = 640;
  diagnostics.ebfmi.assign(16, 1.0 / 3);
  diagnostics.warnings.assign(8, {"divergences", std::string(1'000'000, 'w')});
  ReportInfo info;
  info.title = info.command = std::string(1'000'000, '<');
  info.trajectory.states.assign(100'000, {-1.0 / 3, 1e-7 / 3, 1e-5 / 3, 1, true, false});
  summary.sharpening.refused = summary.sharpening.worst_name = std::string(1'000'000, 'w');
  summary.sharpening.check.emplace();
  const std::string page = report_page(result, summary, info);
  EXPECT_LT(page.size(), most_bytes);
  const Json data = data_of(page);
  EXPECT_EQ(data["omitted"]["rows"], Json::parse("[5000, 12000]"));
  EXPECT_EQ(data["omitted"]["chains"], Json::parse("[12, 16]"));
  EXPECT_EQ(data["trajectory"]["length"], 100'000);
}

TEST(Report, LongRunsStaySmall) {
  const SampleResult result = made_up(40, 4, 100'000, 0);
  const std::string page = report_page(result, made_up_summary(result), {});
  EXPECT_LT(page.size(), most_bytes);
  const Json data = data_of(page);
  EXPECT_EQ(data["points"]["stride"], 100);
  EXPECT_EQ(data["points"]["regular"], 4000);
  EXPECT_EQ(data["draws"], 400'000);
}

TEST(Report, PlotsTheWorstAndThoseNearDivergences) {
  SampleResult result = made_up(300, 4, 100, 0);
  auto summary = made_up_summary(result);
  summary.parameters[250].convergence.ess_bulk = 3;
  summary.parameters[260].convergence.ess_tail = nan;
  for (ChainResult& chain : result.chains) {
    for (std::size_t i = 0; i < 5; ++i) {
      chain.record.ending[17 * i] = Ending::diverged;
      chain.record.draws[17 * i * 300 + 270] = 9;
    }
  }
  const Json data = data_of(report_page(result, summary, {}));
  const auto is_plotted = [&](int p) { return data["parameters"][p].contains("values"); };
  for (const int p : {0, 1, 250, 260, 270}) EXPECT_TRUE(is_plotted(p)) << p;
  EXPECT_FALSE(is_plotted(240));
  EXPECT_EQ(data["pair"][0], 270);
  EXPECT_EQ(data["points"]["divergent"].size(), 20U);
}

TEST(Report, KeepsDivergencesThatThinningSkips) {
  SampleResult result = made_up(2, 4, 10'000, 0);
  result.chains[3].record.ending[7777] = Ending::diverged;
  const Json points = data_of(page_of(result))["points"];
  ASSERT_GT(points["stride"], 1);
  ASSERT_EQ(points["divergent"].size(), 1U);
  const std::size_t i = points["divergent"][0];
  EXPECT_EQ(points["chain"][i], 3);
  EXPECT_EQ(points["draw"][i], 7777);
}

TEST(Report, TakesDegenerateRuns) {
  EXPECT_EQ(data_of(report_page({}, {}, {}))["parameters"].size(), 0U);

  for (const int draws : {1, 2, 3}) {
    for (const int chains : {1, 2}) {
      for (const char* recycling : {"none", "spread:2"}) {
        const SampleResult result = short_run(StandardNormal(1), recycling, draws, chains);
        const Json data = data_of(page_of(result));
        EXPECT_TRUE(data["short"]);
        EXPECT_EQ(data["parameters"][0].contains("recycled"), recycling != std::string("none"));
      }
    }
  }

  SampleResult result = made_up(1, 2, 50, 0);
  result.chains[0].record.draws.assign(50, 1.0);
  result.chains[1].record.draws.assign(50, 1.0);
  EXPECT_TRUE(data_of(page_of(result))["parameters"][0]["density"].is_null());
  for (const double odd : {nan, infinity, -infinity, 1e300, -1.7e308}) {
    result.chains[1].record.draws.assign(50, odd);
    EXPECT_EQ(data_of(page_of(result))["parameters"].size(), 1U) << odd;
  }
}

TEST(Report, TakesRunsOfAnotherProgram) {
  SampleResult result = made_up(2, 4, 100, 0);
  for (ChainResult& chain : result.chains) {
    chain.record.energy.clear();
    chain.record.mass.clear();
    chain.record.ending.clear();
  }
  const Json data = data_of(page_of(result));
  EXPECT_TRUE(data["energy"].is_null());
  EXPECT_TRUE(data["parameters"][1].contains("values"));
}

TEST(Report, TakesRunsThatKeptOnlyTheirSummary) {
  SampleResult result = made_up(2, 4, 100, 8);
  const RunSummary summary = summarise_run(result);
  for (ChainResult& chain : result.chains) chain.record = {};
  const Json data = data_of(report_page(result, summary, {}));
  EXPECT_EQ(data["draws"], 0);
  EXPECT_EQ(data["parameters"].size(), 2U);
  EXPECT_FALSE(data["parameters"][0].contains("values"));
}

}  // namespace
}  // namespace rehmc::report_test
