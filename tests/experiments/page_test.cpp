// The page is drawn from tables alone: claims, figures, what is missing, and loud notices.
#include "experiments/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/csv.hpp"
#include "experiments/paper_figures.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "tests/model/messages.hpp"
#include "tests/output/folder.hpp"

namespace rehmc::experiments {
namespace {

using rehmc::testing::expect_says;
using rehmc::testing::Folder;
using rehmc::testing::message_of;

void write(const Folder& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / (name + ".csv")) << text;
}

/// A case under a kernel: the mean's log2 ratios are given, those of the variance are 1, those of
/// the quantile 0.5.
void write_gains(const Folder& folder, const std::string& name, const std::vector<double>& ratios) {
  std::vector<std::string> columns{"parameter", "scale"};
  for (const std::string statistic : shown_statistics) {
    for (const char* what : {"plain", "recycled", "log2", "log2_error", "log2_short", "log2_k"}) {
      columns.push_back(statistic + "_" + what);
    }
  }
  columns.push_back("k");
  Table table(columns);
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    std::vector<Cell> row{i + 1, 1.0};
    for (const double ratio : {ratios[i], 1.0, 0.5}) {
      for (const double value : {0.5, 1.0, ratio, 0.07, ratio, ratio}) row.emplace_back(value);
    }
    row.emplace_back(31);
    table.append(std::move(row));
  }
  table.write(folder / (name + ".csv"));
}

constexpr const char* claims_head = "id,section,claim,paper,measured,error,verdict,remark\n";

std::string page_of(const Folder& folder) {
  draw_results(folder.path());
  return read_file(folder / "paper.html");
}

std::string part(const std::string& page, const std::string& from, const std::string& to) {
  const std::size_t start = page.find(from);
  if (start == std::string::npos) return "";
  return page.substr(start, page.find(to, start) - start);
}

TEST(Page, GoesThroughTheClaims) {
  const Folder folder;
  write(folder, "claims",
        std::string(claims_head) +
            "a,gaussian,More <ESS> & less work,+100%,+104%,3%,agrees,\n"
            "b,cox,\"Means, too\",all,some,,differs,\"Because of \"\"this\"\"\"\n"
            "c,gaussian,Third,7,8,,unclear,\n"
            "d,Elsewhere,Fourth,7,8,,agrees,\n");
  write(folder, "run", "key,value\nscale,quick\nmachine,\"2 cores, <fast>\"\nseconds,3723\n");
  const std::string page = page_of(folder);
  expect_says(page, {"More &lt;ESS&gt; &amp; less work", "+104%", "± 3%", "chip agrees",
                     "Because of &quot;this&quot;", "chip differs", "not settled at this scale",
                     "scale <b>quick</b>", "2 cores, &lt;fast&gt;", "took <b>1 h 02 min</b>",
                     "<b>2</b>agree<", "<b>1</b>differs<"});
  EXPECT_EQ(page.find("<ESS>"), std::string::npos);
  // Grouped by section: the third claim stands with the first.
  expect_says(part(page, "#gaussian\">Multivariate Gaussian", "</tbody>"), {"More", "Third"});
  EXPECT_LT(page.find("claim-c"), page.find("claim-b"));
  expect_says(page, {"colspan=\"4\">Elsewhere"});
}

TEST(Page, RefusesAVerdictThatIsNone) {
  const Folder folder;
  write(folder, "claims", std::string(claims_head) + "a,cox,Claim,1,2,,maybe,\n");
  expect_says(message_of<DataError>([&] { page_of(folder); }),
              {"claims.csv", "row 1", "verdict", "maybe", "agrees, differs or unclear"});
}

TEST(Page, DrawsWhatIsThereAndNamesWhatIsNot) {
  const Folder folder;
  write_gains(folder, "gaussian-hmc", {0.5, -0.25, 0.75, 1.0});
  write(folder, "settings",
        "case,kernel,step_size,acceptance,leapfrogs,path_length,chains,iterations,truth_iterations,"
        "truth_error,seconds,microseconds_per_leapfrog,truth_source\n"
        "gaussian,hmc,0.0125,0.7,251,3.1,400,3200,10000000,0.001,90,1.5,a long run\n"
        "cox,hmc,0.3,0.7,15,,100,1600,,,10,1,\n");
  const std::string page = page_of(folder);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "figures" / "gaussian-hmc.svg"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "figures" / "gaussian-hmc.png"));

  const std::string gaussian = part(page, "<section id=\"gaussian\">", "</section>");
  expect_says(gaussian, {"src=\"figures/gaussian-hmc.svg\"", "0.0125", "3,200",
                         "a long run, 10,000,000 iterations", "1 min 30 s"});
  // The mean: on average +0.50, that is 2^0.5 - 1 = 41%; three of four parameters gain.
  expect_says(part(gaussian, "<td>mean</td>", "</tr>"),
              {">+0.50<", ">+41%<", ">+0.50 (K = 31)<", ">−0.25<", ">+1.00<", ">75%<"});
  expect_says(part(gaussian, "<td>variance</td>", "</tr>"), {">+100%<", ">100%<"});

  // Settings alone make no section; its tables are named as missing, like the rest of the Gaussian.
  EXPECT_EQ(page.find("<section id=\"cox\">"), std::string::npos);
  EXPECT_EQ(page.find("href=\"#cox\""), std::string::npos);
  const std::string missing = part(page, "Not in this page", "</div>");
  expect_says(missing,
              {"cox-hmc.csv", "gaussian-nuts-slice.csv", "trajectory.csv", "overhead.csv"});
  EXPECT_EQ(missing.find(">gaussian-hmc.csv"), std::string::npos);
  expect_says(page, {"No claims were judged"});
}

TEST(Page, IsLoudAboutStandIns) {
  const Folder folder;
  write_gains(folder, "gaussian-hmc", {0.5, 0.6});
  write_gains(folder, "volatility-hmc", {0.5, 0.6});
  EXPECT_EQ(page_of(folder).find("role=\"alert\""), std::string::npos);

  write(folder, "notice", "case,text\nvolatility,Made-up closes <not> the index\n");
  const std::string page = page_of(folder);
  const char* banner = "Made-up closes &lt;not&gt; the index";
  const std::size_t first = page.find(banner);
  EXPECT_LT(first, page.find("id=\"claims\""));
  EXPECT_NE(part(page, "<section id=\"volatility\">", "</section>").find(banner),
            std::string::npos);
  EXPECT_NE(part(page, "<section id=\"lengths\">", "</section>").find(banner), std::string::npos);
  EXPECT_EQ(part(page, "<section id=\"gaussian\">", "</section>").find(banner), std::string::npos);
}

TEST(Page, FindsTheFewestStatesThatSuffice) {
  const Folder folder;
  std::string counts =
      "case,kernel,family,k,statistic,log2,log2_error,ess_share,ess_share_error\n"
      "gaussian,hmc,all,251,all,1,0,1,0\n";
  for (const char* row :
       {"final,64,all,1,0,0.99,0", "final,32,all,1,0,0.951,0", "final,16,all,1,0,0.949,0",
        "spread,8,all,1,0,0.96,0", "final,2,mean,1,0,1,0"}) {
    counts += std::string("gaussian,hmc,") + row + "\n";
  }
  write(folder, "counts", counts);
  write(folder, "counts-gaussian-hmc", "parameter,k1,k2,k4\n1,0,0.5,0.7\n2,0.1,0.4,0.8\n");
  const std::string page = page_of(folder);
  expect_says(part(page, "<section id=\"counts\">", "</tbody>"),
              {"<td>HMC</td><td class=\"number\">32</td><td class=\"number\">8</td>"});
}

TEST(Page, WantsAFolderWithTables) {
  const Folder folder;
  expect_says(message_of<NoInputError>([&] { draw_results(folder.path()); }),
              {folder.path().string(), "CSV"});
  EXPECT_THROW(draw_results(folder / "none"), NoInputError);
}

TEST(PaperFigures, SortByTheMeanAndGroupManyParameters) {
  const Folder folder;
  write_gains(folder, "cox-hmc", {0.5, -0.25, 0.75});
  std::vector<double> many;
  for (int i = 0; i < 600; ++i) many.push_back((i * 7 % 600) / 600.0);
  write_gains(folder, "cox-nuts", many);
  Results results(folder.path());

  const std::vector<Figure> few = gain_figures(results, "cox", "hmc");
  ASSERT_EQ(few.size(), 1u);
  const Curve& mean = few[0].panels[0].curves[0];
  EXPECT_EQ(mean.label, "mean");
  EXPECT_EQ(mean.y, (std::vector<double>{-0.25, 0.5, 0.75}));
  EXPECT_EQ(mean.x, (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(mean.lower.empty());
  EXPECT_EQ(few[0].panels[0].guides, std::vector<double>{0.0});

  const std::vector<Figure> grouped = gain_figures(results, "cox", "nuts");
  const Curve& line = grouped[0].panels[0].curves[0];
  EXPECT_EQ(line.x.front(), 1.0);
  EXPECT_EQ(line.x.back(), 600.0);
  EXPECT_LT(line.x.size(), 100u);
  EXPECT_TRUE(std::is_sorted(line.y.begin(), line.y.end()));
  // No value is lost from sight: the bands reach from the smallest to the largest.
  EXPECT_NEAR(*std::min_element(line.lower.begin(), line.lower.end()), 0.0, 1e-6);
  EXPECT_NEAR(*std::max_element(line.upper.begin(), line.upper.end()), 599.0 / 600.0, 1e-5);

  EXPECT_TRUE(gain_figures(results, "gaussian", "hmc").empty());
  EXPECT_EQ(results.take_missing(), std::set<std::string>{"gaussian-hmc.csv"});
  EXPECT_TRUE(results.take_missing().empty());
}

TEST(PaperFigures, CutGiantsAndSaySo) {
  const Folder folder;
  std::vector<double> ratios(50, 0.8);
  ratios.back() = 10.0;
  write_gains(folder, "gaussian-nuts", ratios);
  Results results(folder.path());
  const Panel panel = gain_figures(results, "gaussian", "nuts").front().panels.front();
  ASSERT_TRUE(panel.y.limits.has_value());
  EXPECT_LT(panel.y.limits->second, 3.0);
  ASSERT_EQ(panel.notes.size(), 1u);
  expect_says(panel.notes[0].text, {"10.0"});
}

TEST(PaperFigures, DrawAllStatesAsALevelLine) {
  const Folder folder;
  write(folder, "counts",
        "case,kernel,family,k,statistic,log2,log2_error,ess_share,ess_share_error\n"
        "cox,hmc,all,0,q97.5,1.5,0.1,nan,nan\ncox,hmc,all,0,all,nan,nan,1,0\n"
        "cox,hmc,final,8,q97.5,1.25,0.1,nan,nan\ncox,hmc,final,2,q97.5,0.5,0.1,nan,nan\n");
  Results results(folder.path());
  const std::vector<Figure> figures = family_figures(results);
  ASSERT_EQ(figures.size(), 1u);
  const std::vector<Curve>& curves = figures[0].panels[0].curves;
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].x, (std::vector<double>{2, 8}));
  EXPECT_EQ(curves[0].y, (std::vector<double>{0.5, 1.25}));
  EXPECT_EQ(curves[1].x, (std::vector<double>{2, 8}));
  EXPECT_EQ(curves[1].y, (std::vector<double>{1.5, 1.5}));
}

TEST(PaperFigures, ShowTheTrajectory) {
  const Folder folder;
  write(folder, "trajectory",
        "step,x,y,accepted,momentum_x,momentum_y\n0,0,0,1,1,1\n1,0.5,0.5,1,1,1\n2,1,1,0,1,1\n");
  Results results(folder.path());
  const std::vector<Figure> figures = trajectory_figures(results);
  ASSERT_EQ(figures.size(), 1u);
  const Panel& panel = figures[0].panels[0];
  EXPECT_EQ(panel.notes.size(), 3u);
  const auto points = [&](const std::string& label) {
    for (const Curve& curve : panel.curves) {
      if (curve.label.starts_with(label)) return curve.x;
    }
    return std::vector<double>{};
  };
  EXPECT_EQ(points("start"), std::vector<double>{0.0});
  EXPECT_EQ(points("accepted"), std::vector<double>{0.5});
  EXPECT_EQ(points("rejected"), std::vector<double>{1.0});
  expect_says(figures[0].caption, {"rejected: 2"});
}

}  // namespace
}  // namespace rehmc::experiments
