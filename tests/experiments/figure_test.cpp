// Figures hold their curves and labels, leave gaps where there are no numbers, and come out twice.
#include "experiments/figure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "experiments/contours.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "tests/model/messages.hpp"
#include "tests/output/folder.hpp"

namespace rehmc::experiments {
namespace {

using rehmc::testing::expect_says;
using rehmc::testing::Folder;
using rehmc::testing::message_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

bool holds(const std::string& text, const std::string& part) { return count(text, part) > 0; }

/// The SVG of a figure with this one panel.
std::string svg_of(Panel panel) {
  const Folder folder;
  draw({.name = "figure", .caption = "Under <1 & over>", .panels = {std::move(panel)}},
       folder.path());
  return read_file(folder / "figure.svg");
}

/// The d attributes of all lines with the colour of a curve, without its sample in the legend.
std::vector<std::string> paths_of(const std::string& svg, const std::string& colour) {
  std::vector<std::string> paths;
  const std::string end = "stroke=\"" + colour + "\"";
  for (std::size_t at = svg.find("<path d=\""); at != std::string::npos;
       at = svg.find("<path d=\"", at + 1)) {
    const std::size_t close = svg.find("/>", at);
    if (svg.substr(at, close - at).find(end) == std::string::npos) continue;
    paths.push_back(svg.substr(at + 9, svg.find('"', at + 9) - at - 9));
  }
  return paths;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

TEST(Figure, HoldsItsTextsAndCurves) {
  const std::string svg = svg_of({.title = "A title",
                                  .x = {"down & right"},
                                  .y = {"up"},
                                  .curves = {{.label = "one <b>", .x = {1, 2, 3}, .y = {3, 1, 2}},
                                             {.label = "", .x = {1, 2}, .y = {0, 0}}},
                                  .guides = {2.5}});
  for (const char* text : {">A title<", ">down &amp; right<", ">up<", ">one &lt;b&gt;<",
                           "<desc>Under &lt;1 &amp; over&gt;</desc>"}) {
    EXPECT_TRUE(holds(svg, text)) << text;
  }
  // Both curves are blue; the label has a sample line in the legend, drawn before.
  const std::vector<std::string> paths = paths_of(svg, "#0072b2");
  ASSERT_EQ(paths.size(), 3u);
  EXPECT_EQ(count(paths[1], "L"), 2u);
  EXPECT_EQ(count(paths[2], "L"), 1u);
}

TEST(Figure, LeavesGapsWhereThereAreNoNumbers) {
  const std::string svg = svg_of({.title = "",
                                  .x = {"x"},
                                  .y = {"y", AxisScale::log10},
                                  .curves = {{.label = "",
                                              .x = {1, 2, 3, 4, 5, 6, 7, 8},
                                              .y = {1, 2, nan, 3, 4, -1, infinity, 5},
                                              .error = {nan, 1, 1, 5, 1, 1, 1, 1},
                                              .lower = {1, 1, nan, 1, 1, 0, 1, 1},
                                              .upper = {2, 3, nan, 5, infinity, 1, 1, 6}}}});
  EXPECT_FALSE(holds(svg, "nan"));
  EXPECT_FALSE(holds(svg, "inf"));
  std::size_t pairs = 0;
  for (const std::string& path : paths_of(svg, "#0072b2")) {
    if (count(path, "L") == 1) ++pairs;
  }
  // Two stretches of two points, and three lines for each of the three error bars that have two
  // ends.
  EXPECT_EQ(pairs, 2u + 3u * 3u);
}

TEST(Figure, HasRoundTicks) {
  const auto ticks = [](AxisScale scale, std::vector<double> values) {
    return svg_of({.title = "",
                   .x = {"x"},
                   .y = {"y", scale},
                   .curves = {{.label = "", .x = values, .y = values}}});
  };
  const std::string linear = ticks(AxisScale::linear, {-0.61, 1.3});
  for (const char* tick : {">−0.5<", ">0.0<", ">0.5<", ">1.0<"})
    EXPECT_TRUE(holds(linear, tick)) << tick;
  const std::string halves = ticks(AxisScale::log2, {1.0 / 32, 1.0});
  for (const char* tick : {">1/32<", ">1/4<", ">1<"}) EXPECT_TRUE(holds(halves, tick)) << tick;
  const std::string powers = ticks(AxisScale::log10, {1e-5, 100.0});
  for (const char* tick : {">10⁻⁵<", ">0.001<", ">100<"}) EXPECT_TRUE(holds(powers, tick)) << tick;
  const std::string narrow = ticks(AxisScale::log10, {50, 3200});
  for (const char* tick : {">50<", ">200<", ">1000<"}) EXPECT_TRUE(holds(narrow, tick)) << tick;
}

TEST(Figure, SaysWhichFactorsALog2AxisMeans) {
  Panel panel{.title = "",
              .x = {"x"},
              .y = {"log2"},
              .curves = {{.label = "", .x = {1, 2}, .y = {-0.2, 1.5}}},
              .shows_factors = true};
  const std::string fine = svg_of(panel);
  for (const char* tick : {">×1<", ">×1.5<", ">×2<"}) EXPECT_TRUE(holds(fine, tick)) << tick;
  panel.curves[0].y = {-3.0, 3.0};
  const std::string coarse = svg_of(panel);
  for (const char* tick : {">×0.25<", ">×1<", ">×4<"}) EXPECT_TRUE(holds(coarse, tick)) << tick;
}

TEST(Figure, SharesALegendThatIsTheSameInAllPanels) {
  const Folder folder;
  const Curve one{.label = "shared label", .x = {1, 2}, .y = {1, 2}};
  Figure figure{.name = "figure",
                .caption = "",
                .panels = {{.title = "a", .x = {}, .y = {}, .curves = {one}},
                           {.title = "b", .x = {}, .y = {}, .curves = {one}}}};
  draw(figure, folder.path());
  EXPECT_EQ(count(read_file(folder / "figure.svg"), "shared label"), 1u);
  figure.panels[1].curves[0].style.dash = Dash::dotted;
  draw(figure, folder.path());
  EXPECT_EQ(count(read_file(folder / "figure.svg"), "shared label"), 2u);
}

TEST(Figure, IsDrawnWithoutDataToo) {
  const std::string svg = svg_of({.title = "none", .x = {}, .y = {}, .curves = {{}}});
  EXPECT_TRUE(holds(svg, ">none<"));
  EXPECT_FALSE(holds(svg, "nan"));
}

TEST(Figure, ComesAsPngOfTwiceTheSize) {
  const Folder folder;
  draw(
      {.name = "figure",
       .caption = "",
       .panels =
           {{.title = "", .x = {}, .y = {}, .curves = {{.label = "a", .x = {1, 2}, .y = {1, 2}}}}}},
      folder.path());
  EXPECT_EQ(folder.count(), 2u);
  const std::string png = read_file(folder / "figure.png");
  ASSERT_TRUE(png.starts_with("\x89PNG\r\n"));
  EXPECT_TRUE(holds(read_file(folder / "figure.svg"), "width=\"560\""));
  EXPECT_EQ(big_endian(png, 16), 2u * 560u);
}

TEST(Contours, HoldTheirShareOfTheMass) {
  Grid grid;
  for (double x = -5.0; x <= 5.0; x += 0.0625) {
    for (double y = -5.0; y <= 5.0; y += 0.0625) {
      grid.x.push_back(x);
      grid.y.push_back(y);
      grid.height.push_back(std::exp(-0.5 * (x * x + y * y)));
    }
  }
  for (const double share : {0.1, 0.5, 0.9}) {
    const auto lines = highest_density_contours(grid, {share});
    ASSERT_EQ(lines.size(), 1u);
    const std::vector<Point>& line = lines.front();
    EXPECT_GT(line.size(), 20u);
    EXPECT_EQ(line.front().x, line.back().x);
    EXPECT_EQ(line.front().y, line.back().y);
    // The circle that holds the share of a standard normal in two dimensions.
    const double radius = std::sqrt(-2.0 * std::log1p(-share));
    for (const Point& point : line) EXPECT_NEAR(std::hypot(point.x, point.y), radius, 0.05);
  }
}

TEST(Contours, EndAtTheBorder) {
  // A hill at the right border: one line that comes in there, goes around and leaves.
  Grid grid;
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 5; ++y) {
      grid.x.push_back(x);
      grid.y.push_back(y);
      grid.height.push_back(y == 2 && x >= 2 ? 9.0 : 1.0);
    }
  }
  const auto lines = highest_density_contours(grid, {0.4});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].size(), 5u);
  EXPECT_EQ(lines[0].front().x, 3.0);
  EXPECT_EQ(lines[0].back().x, 3.0);
}

TEST(Contours, RefuseWhatIsNoGrid) {
  expect_says(message_of<DataError>([] {
                highest_density_contours({{0, 1, 0}, {0, 0, 1}, {1, 1, 1}}, {0.5});
              }),
              {"3 points", "2 x and 2 y"});
}

}  // namespace
}  // namespace rehmc::experiments
