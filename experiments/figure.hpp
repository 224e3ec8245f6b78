// Figures of curves in panels, drawn as SVG and PNG.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/canvas.hpp"

namespace rehmc::experiments {

/// The palette of Okabe and Ito: told apart by the colour-blind, too.
namespace palette {
inline constexpr Colour black{34, 34, 34};
inline constexpr Colour grey{130, 130, 130};
inline constexpr Colour blue{0, 114, 178};
inline constexpr Colour vermilion{213, 94, 0};
inline constexpr Colour green{0, 158, 115};
inline constexpr Colour purple{204, 121, 167};
inline constexpr Colour orange{230, 159, 0};
inline constexpr Colour sky{86, 180, 233};
}  // namespace palette

enum class Dash { none, solid, dashed, dotted };
enum class Marker { none, circle, square, triangle, diamond };

struct CurveStyle {
  Colour colour = palette::blue;
  Dash dash = Dash::solid;
  Marker marker = Marker::none;
  double width = 1.6;

  bool operator==(const CurveStyle&) const = default;
};

/// A line through points. It has a gap where x or y is not finite (or not positive, on a log axis).
struct Curve {
  std::string label;  ///< in the legend; empty: not there
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> error = {};  ///< half lengths of error bars; empty: none
  std::vector<double> lower = {};  ///< with `upper`, a band around the line; empty: none
  std::vector<double> upper = {};
  CurveStyle style = {};
};

/// A text beside a point of the plot, on the side where there is room.
struct Note {
  double x = 0.0;
  double y = 0.0;
  std::string text;
};

/// How an axis runs; the ticks of a logarithmic one stand at powers of its base.
enum class AxisScale { linear, log2, log10 };

struct Axis {
  std::string label;
  AxisScale scale = AxisScale::linear;
  std::optional<std::pair<double, double>> limits = {};  ///< none: as the data need
};

struct Panel {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Curve> curves;
  std::vector<double> guides = {};  ///< heights of horizontal lines
  std::vector<Note> notes = {};
  /// For a y axis in log2: on the right, the factors that it means.
  bool shows_factors = false;
};

struct Figure {
  std::string name;     ///< of its files, without their endings
  std::string caption;  ///< plain text
  std::vector<Panel> panels;
  std::size_t columns = 2;  ///< panels in a row, at most 3
  double plot_height = 250.0;
};

/// Writes NAME.svg, and NAME.png with two pixels for one of the SVG, into the folder.
void draw(const Figure& figure, const std::filesystem::path& folder);

}  // namespace rehmc::experiments
