// A drawing of lines, areas, circles and texts, kept as a list and written as SVG or as PNG.
//
// SVG is written by hand rather than by cairo, whose SVG turns letters into outlines: so texts stay
// texts (found, selected, read aloud), and files stay small. Cairo paints the PNG, and measures
// texts.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace rehmc::experiments {

struct Colour {
  int red = 0;
  int green = 0;
  int blue = 0;
  double opacity = 1.0;

  Colour faded(double by) const { return {red, green, blue, opacity * by}; }
  bool operator==(const Colour&) const = default;
};

/// In pixels, y downwards.
struct Point {
  double x = 0.0;
  double y = 0.0;
};

struct Box {
  double left = 0.0;
  double top = 0.0;
  double width = 0.0;
  double height = 0.0;

  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

struct Stroke {
  Colour colour;
  double width = 1.0;
  std::vector<double> dash = {};  ///< lengths on, off, on, ...; empty: a whole line
};

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 11.0;
  Colour colour = {};
  Anchor anchor = Anchor::start;
  bool bold = false;
  bool upwards = false;  ///< read from below
};

class Canvas {
 public:
  Canvas(double width, double height) : width_(width), height_(height) {}

  void line(std::vector<Point> points, const Stroke& stroke);
  void area(std::vector<Point> corners, const Colour& fill);
  void circle(const Point& centre, double radius, const Colour& fill, const Stroke& edge);
  void text(const Point& place, const std::string& letters, const TextStyle& style);
  /// What is drawn from here to unclip() is seen inside of the box only.
  void clip(const Box& box);
  void unclip();

  /// CreateError or FileError if a file cannot be written. The description is what a reader who
  /// cannot see the drawing is told.
  void write_svg(const std::filesystem::path& path, const std::string& description) const;
  void write_png(const std::filesystem::path& path, double scale) const;

 private:
  struct Line {
    std::vector<Point> points;
    Stroke stroke;
  };
  struct Area {
    std::vector<Point> corners;
    Colour fill;
  };
  struct Circle {
    Point centre;
    double radius;
    Colour fill;
    Stroke edge;
  };
  struct Text {
    Point place;
    std::string letters;
    TextStyle style;
  };
  struct Clip {
    Box box;
  };
  struct Unclip {};
  using Item = std::variant<Line, Area, Circle, Text, Clip, Unclip>;
  friend class SvgWriter;
  friend class PngPainter;

  double width_;
  double height_;
  std::vector<Item> items_;
};

/// The width of a text as the PNG has it, in pixels.
double text_width(const std::string& letters, double size, bool bold = false);

/// A text with the letters that mean something to HTML and XML written as entities.
std::string escaped(const std::string& text);

}  // namespace rehmc::experiments
