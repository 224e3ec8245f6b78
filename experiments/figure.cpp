// Lays out figures: panels in rows, axes with round ticks, a legend above the data, the curves.
#include "experiments/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>

namespace rehmc::experiments {
namespace {

constexpr Colour ink{34, 34, 34};
constexpr Colour soft_ink{85, 85, 85};
constexpr Colour grid_colour{230, 230, 230};
constexpr Colour axis_colour{90, 90, 90};
constexpr Colour paper{255, 255, 255};

constexpr double label_size = 12.0;
constexpr double tick_size = 11.0;
constexpr double title_height = 22.0;
constexpr double legend_row = 18.0;
constexpr double legend_sample = 24.0;  ///< width of the piece of line in front of a label
constexpr double outer = 8.0;
constexpr double marker_radius = 3.4;

double panel_width(std::size_t columns) {
  constexpr std::array<double, 3> widths{560.0, 450.0, 340.0};
  return widths.at(columns - 1);
}

bool is_log(AxisScale scale) { return scale != AxisScale::linear; }

/// Where a value lies on its axis, before it is stretched to pixels. NaN if it has no place.
double place_of(double value, AxisScale scale) {
  if (!is_log(scale)) return value;
  if (!(value > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  return scale == AxisScale::log2 ? std::log2(value) : std::log10(value);
}

struct Tick {
  double place;
  std::string label;
};

std::string with_minus_sign(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

/// Steps of 1, 2 or 5 times a power of ten, some five of them.
std::vector<Tick> linear_ticks(double low, double high) {
  const double rough = (high - low) / 5.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= 0.8 * rough) {
      step = factor * power;
      break;
    }
  }
  const int digits = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  std::vector<Tick> ticks;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
    const double value = i == 0.0 ? 0.0 : i * step;
    ticks.push_back({value, with_minus_sign(fmt::format("{:.{}f}", value, digits))});
  }
  return ticks;
}

std::string superscript(int number) {
  constexpr std::array digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(number))) {
    text += digits[static_cast<std::size_t>(digit - '0')];
  }
  return text;
}

std::string power_label(int exponent, AxisScale scale) {
  if (scale == AxisScale::log10) {
    return std::abs(exponent) <= 3 ? fmt::format("{:g}", std::pow(10.0, exponent))
                                   : "10" + superscript(exponent);
  }
  if (std::abs(exponent) > 16) return "2" + superscript(exponent);
  const long power = 1L << std::abs(exponent);
  return exponent < 0 ? fmt::format("1/{}", power) : fmt::format("{}", power);
}

/// Powers of the base, at most eight of them. Within few powers of ten, some of their multiples.
std::vector<Tick> log_ticks(double low, double high, AxisScale scale) {
  const int first = static_cast<int>(std::ceil(low - 1e-9));
  const int last = static_cast<int>(std::floor(high + 1e-9));
  const int step = std::max(1, (last - first + 7) / 8);
  std::vector<Tick> powers;
  for (int i = first; i <= last; i += step) powers.push_back({double(i), power_label(i, scale)});
  if (scale == AxisScale::log2 || powers.size() >= 3) return powers;

  std::vector<Tick> ticks;
  for (const std::vector<int>& factors : {std::vector{1, 2, 5}, std::vector{1, 2, 3, 4, 5, 6, 8}}) {
    ticks.clear();
    for (int i = first - 1; i <= last; ++i) {
      for (const int factor : factors) {
        const double place = i + std::log10(factor);
        if (place < low - 1e-9 || place > high + 1e-9) continue;
        ticks.push_back({place, fmt::format("{:g}", factor * std::pow(10.0, i))});
      }
    }
    if (ticks.size() >= 3) break;
  }
  return ticks;
}

std::vector<Tick> ticks_of(double low, double high, AxisScale scale) {
  return is_log(scale) ? log_ticks(low, high, scale) : linear_ticks(low, high);
}

/// The factors that a log2 axis means: halves and doubles, or finer steps where these are too few.
std::vector<Tick> factor_ticks(double low, double high) {
  const auto within = [&](std::initializer_list<double> factors) {
    std::vector<Tick> ticks;
    for (const double factor : factors) {
      const double place = std::log2(factor);
      if (place >= low - 1e-9 && place <= high + 1e-9) {
        ticks.push_back({place, factor < 0.2 ? fmt::format("×1/{:g}", 1.0 / factor)
                                             : fmt::format("×{:g}", factor)});
      }
    }
    return ticks;
  };
  std::vector<Tick> ticks = within({1.0 / 64, 1.0 / 16, 0.25, 1, 4, 16, 64, 256, 1024, 4096});
  if (ticks.size() < 4) ticks = within({1.0 / 16, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32});
  if (ticks.size() < 4) ticks = within({0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6});
  if (ticks.size() < 3) {
    ticks = within({0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2, 2.2, 2.5, 3});
  }
  return ticks;
}

/// The ends of what was seen so far.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void see(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// With some air at both ends; something to draw on even without data.
  Range padded(double share) const {
    if (!(low <= high)) return {0.0, 1.0};
    const double air = high > low ? share * (high - low) : 0.5;
    return {low - air, high + air};
  }
};

Range range_of(const Axis& axis, const Range& seen, double share) {
  if (axis.limits) {
    return {place_of(axis.limits->first, axis.scale), place_of(axis.limits->second, axis.scale)};
  }
  return seen.padded(share);
}

Range x_range(const Panel& panel) {
  Range seen;
  bool has_markers = false;
  for (const Curve& curve : panel.curves) {
    for (const double value : curve.x) seen.see(place_of(value, panel.x.scale));
    has_markers = has_markers || curve.style.marker != Marker::none;
  }
  return range_of(panel.x, seen, has_markers ? 0.05 : 0.015);
}

Range y_range(const Panel& panel) {
  Range seen;
  for (const Curve& curve : panel.curves) {
    for (std::size_t i = 0; i < curve.y.size(); ++i) {
      const double error = curve.error.empty() ? 0.0 : curve.error[i];
      seen.see(place_of(curve.y[i], panel.y.scale));
      seen.see(place_of(curve.y[i] - error, panel.y.scale));
      seen.see(place_of(curve.y[i] + error, panel.y.scale));
    }
    for (const double value : curve.lower) seen.see(place_of(value, panel.y.scale));
    for (const double value : curve.upper) seen.see(place_of(value, panel.y.scale));
  }
  for (const double value : panel.guides) seen.see(place_of(value, panel.y.scale));
  return range_of(panel.y, seen, 0.06);
}

/// From values to pixels.
struct Frame {
  Box box;
  Range x;
  Range y;
  AxisScale x_scale;
  AxisScale y_scale;

  double x_at_place(double place) const {
    return box.left + (place - x.low) / (x.high - x.low) * box.width;
  }
  double y_at_place(double place) const {
    return box.bottom() - (place - y.low) / (y.high - y.low) * box.height;
  }
  Point at(double value_x, double value_y) const {
    return {x_at_place(place_of(value_x, x_scale)), y_at_place(place_of(value_y, y_scale))};
  }
};

bool is_seen(const Point& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

Stroke stroke_of(const CurveStyle& style) {
  switch (style.dash) {
    case Dash::dashed:
      return {style.colour, style.width, {6.0, 3.0}};
    case Dash::dotted:
      return {style.colour, style.width, {1.6, 2.4}};
    default:
      return {style.colour, style.width};
  }
}

void draw_marker(Canvas& canvas, const CurveStyle& style, const Point& at) {
  constexpr double r = marker_radius;
  const auto polygon = [&](std::initializer_list<Point> corners) {
    std::vector<Point> points;
    for (const Point& corner : corners) {
      points.push_back({at.x + r * corner.x, at.y + r * corner.y});
    }
    canvas.area(points, style.colour);
  };
  switch (style.marker) {
    case Marker::none:
      break;
    case Marker::circle:
      canvas.circle(at, r, style.colour, {paper, 0.8});
      break;
    case Marker::square:
      polygon({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
      break;
    case Marker::triangle:
      polygon({{0.0, -1.2}, {1.15, 0.8}, {-1.15, 0.8}});
      break;
    case Marker::diamond:
      polygon({{0.0, -1.25}, {1.25, 0.0}, {0.0, 1.25}, {-1.25, 0.0}});
      break;
  }
}

/// The stretches of a curve between its gaps, in pixels.
std::vector<std::vector<Point>> stretches_of(const Frame& frame, const Curve& curve) {
  std::vector<std::vector<Point>> stretches(1);
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const Point point = frame.at(curve.x[i], curve.y[i]);
    if (is_seen(point)) {
      stretches.back().push_back(point);
    } else if (!stretches.back().empty()) {
      stretches.emplace_back();
    }
  }
  if (stretches.back().empty()) stretches.pop_back();
  return stretches;
}

void draw_band(Canvas& canvas, const Frame& frame, const Curve& curve) {
  std::vector<Point> upper;
  std::vector<Point> lower;
  for (std::size_t i = 0; i < curve.lower.size(); ++i) {
    const Point up = frame.at(curve.x[i], curve.upper[i]);
    const Point down = frame.at(curve.x[i], curve.lower[i]);
    if (!is_seen(up) || !is_seen(down)) continue;
    upper.push_back(up);
    lower.push_back(down);
  }
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  if (!upper.empty()) canvas.area(upper, curve.style.colour.faded(0.16));
}

void draw_error_bars(Canvas& canvas, const Frame& frame, const Curve& curve) {
  const Stroke stroke{curve.style.colour, 1.0};
  for (std::size_t i = 0; i < curve.error.size(); ++i) {
    const Point up = frame.at(curve.x[i], curve.y[i] + curve.error[i]);
    const Point down = frame.at(curve.x[i], curve.y[i] - curve.error[i]);
    if (!is_seen(up) || !is_seen(down)) continue;
    if (down.y - up.y < 2.0 * marker_radius && curve.style.marker != Marker::none) continue;
    canvas.line({up, down}, stroke);
    for (const Point& end : {up, down}) {
      canvas.line({{end.x - 2.5, end.y}, {end.x + 2.5, end.y}}, stroke);
    }
  }
}

void draw_curve(Canvas& canvas, const Frame& frame, const Curve& curve) {
  draw_error_bars(canvas, frame, curve);
  for (const std::vector<Point>& stretch : stretches_of(frame, curve)) {
    if (curve.style.dash != Dash::none) canvas.line(stretch, stroke_of(curve.style));
    for (const Point& point : stretch) draw_marker(canvas, curve.style, point);
  }
}

/// Labels in rows from left to right, as many in each row.
class Legend {
 public:
  Legend(std::span<const Panel> panels, double width) {
    std::vector<const Curve*> labelled;
    double widest = 0.0;
    double together = 0.0;
    for (const Panel& panel : panels) {
      for (const Curve& curve : panel.curves) {
        if (curve.label.empty() || knows(labelled, curve.label)) continue;
        labelled.push_back(&curve);
        widest = std::max(widest, width_of(curve));
        together += width_of(curve);
      }
    }
    if (labelled.empty()) return;
    std::size_t columns = labelled.size();
    if (together > width) {
      columns = std::max<std::size_t>(1, static_cast<std::size_t>(width / widest));
      const std::size_t rows = (labelled.size() + columns - 1) / columns;
      columns = (labelled.size() + rows - 1) / rows;
    }
    double left = 0.0;
    for (std::size_t i = 0; i < labelled.size(); ++i) {
      if (i % columns == 0) {
        rows_.emplace_back();
        left = 0.0;
      }
      rows_.back().push_back({labelled[i], left});
      left += together > width ? widest : width_of(*labelled[i]);
    }
  }

  double height() const { return legend_row * static_cast<double>(rows_.size()); }

  void draw(Canvas& canvas, const Point& corner) const {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const double middle = corner.y + legend_row * (static_cast<double>(row) + 0.5);
      for (const Entry& entry : rows_[row]) {
        const double left = corner.x + entry.left;
        const Curve& curve = *entry.curve;
        if (!curve.lower.empty()) {
          canvas.area({{left, middle - 5.0},
                       {left + legend_sample, middle - 5.0},
                       {left + legend_sample, middle + 5.0},
                       {left, middle + 5.0}},
                      curve.style.colour.faded(0.16));
        }
        if (curve.style.dash != Dash::none) {
          canvas.line({{left, middle}, {left + legend_sample, middle}}, stroke_of(curve.style));
        }
        draw_marker(canvas, curve.style, {left + legend_sample / 2.0, middle});
        canvas.text({left + legend_sample + 6.0, middle + 4.0}, curve.label,
                    {.size = tick_size, .colour = ink});
      }
    }
  }

 private:
  struct Entry {
    const Curve* curve;
    double left;
  };

  static double width_of(const Curve& curve) {
    return legend_sample + 6.0 + text_width(curve.label, tick_size) + 18.0;
  }
  static bool knows(const std::vector<const Curve*>& curves, const std::string& label) {
    return std::any_of(curves.begin(), curves.end(),
                       [&](const Curve* curve) { return curve->label == label; });
  }

  std::vector<std::vector<Entry>> rows_;
};

/// Leaves out ticks whose labels would touch the one before.
std::vector<Tick> spread_out(std::vector<Tick> ticks, const Frame& frame) {
  std::sort(ticks.begin(), ticks.end(),
            [](const Tick& a, const Tick& b) { return a.place < b.place; });
  std::vector<Tick> kept;
  double free_from = -std::numeric_limits<double>::infinity();
  for (Tick& tick : ticks) {
    const double half = text_width(tick.label, tick_size) / 2.0;
    const double at = frame.x_at_place(tick.place);
    if (at - half < free_from) continue;
    free_from = at + half + 6.0;
    kept.push_back(std::move(tick));
  }
  return kept;
}

void draw_axes(Canvas& canvas, const Frame& frame, const Panel& panel) {
  const Box& box = frame.box;
  const Stroke grid{grid_colour, 1.0};
  const Stroke axis{axis_colour, 1.0};
  const TextStyle tick_text{.size = tick_size, .colour = soft_ink};

  for (const Tick& tick : spread_out(ticks_of(frame.x.low, frame.x.high, frame.x_scale), frame)) {
    const double x = frame.x_at_place(tick.place);
    canvas.line({{x, box.top}, {x, box.bottom()}}, grid);
    canvas.line({{x, box.bottom()}, {x, box.bottom() + 4.0}}, axis);
    TextStyle style = tick_text;
    style.anchor = Anchor::middle;
    canvas.text({x, box.bottom() + 17.0}, tick.label, style);
  }
  double widest = 0.0;
  for (const Tick& tick : ticks_of(frame.y.low, frame.y.high, frame.y_scale)) {
    const double y = frame.y_at_place(tick.place);
    canvas.line({{box.left, y}, {box.right(), y}}, grid);
    canvas.line({{box.left - 4.0, y}, {box.left, y}}, axis);
    TextStyle style = tick_text;
    style.anchor = Anchor::end;
    canvas.text({box.left - 7.0, y + 4.0}, tick.label, style);
    widest = std::max(widest, text_width(tick.label, tick_size));
  }
  if (panel.shows_factors) {
    for (const Tick& tick : factor_ticks(frame.y.low, frame.y.high)) {
      const double y = frame.y_at_place(tick.place);
      canvas.line({{box.right(), y}, {box.right() + 4.0, y}}, axis);
      canvas.text({box.right() + 7.0, y + 4.0}, tick.label, tick_text);
    }
    canvas.line({{box.right(), box.top}, {box.right(), box.bottom()}}, axis);
  }
  canvas.line({{box.left, box.top}, {box.left, box.bottom()}, {box.right(), box.bottom()}}, axis);
  canvas.text({box.left + box.width / 2.0, box.bottom() + 36.0}, panel.x.label,
              {.size = label_size, .colour = ink, .anchor = Anchor::middle});
  canvas.text({box.left - widest - 15.0, box.top + box.height / 2.0}, panel.y.label,
              {.size = label_size, .colour = ink, .anchor = Anchor::middle, .upwards = true});
}

double distance(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// Writes each note on that side of its point where it is farthest from all other points, from the
/// straight ways between them, and from the notes that stand already.
void draw_notes(Canvas& canvas, const Frame& frame, const std::vector<Note>& notes) {
  std::vector<Point> obstacles;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const Point here = frame.at(notes[i].x, notes[i].y);
    obstacles.push_back(here);
    if (i + 1 == notes.size()) break;
    const Point next = frame.at(notes[i + 1].x, notes[i + 1].y);
    const double steps = std::floor(distance(here, next) / 4.0);
    for (double step = 1.0; step < steps; ++step) {
      const double share = step / steps;
      obstacles.push_back({here.x + share * (next.x - here.x), here.y + share * (next.y - here.y)});
    }
  }
  for (const Note& note : notes) {
    const Point at = frame.at(note.x, note.y);
    const double half = text_width(note.text, tick_size) / 2.0;
    Point best;
    double most = -1.0;
    for (const Point side : {Point{1, 0}, Point{-1, 0}, Point{0, -1}, Point{0, 1}, Point{0.8, -0.8},
                             Point{0.8, 0.8}, Point{-0.8, -0.8}, Point{-0.8, 0.8}}) {
      const Point middle{at.x + side.x * (half + 6.0), at.y + side.y * 11.0};
      if (middle.x - half < frame.box.left || middle.x + half > frame.box.right()) continue;
      if (middle.y - 8.0 < frame.box.top || middle.y + 8.0 > frame.box.bottom()) continue;
      double room = 30.0;
      for (const Point& obstacle : obstacles) {
        const Point nearest{std::clamp(obstacle.x, middle.x - half, middle.x + half), middle.y};
        room = std::min(room, distance(obstacle, nearest));
      }
      if (room > most + 0.5) {
        most = room;
        best = middle;
      }
    }
    if (most < 0.0) continue;
    canvas.text({best.x, best.y + 4.0}, note.text,
                {.size = tick_size, .colour = ink, .anchor = Anchor::middle});
    for (const double shift : {-half, 0.0, half}) obstacles.push_back({best.x + shift, best.y});
  }
}

double height_of_title(const Panel& panel) { return panel.title.empty() ? 4.0 : title_height; }

/// One legend serves all panels if one of them has every label, and a label means one style.
bool shares_legend(const std::vector<Panel>& panels) {
  if (panels.size() < 2) return false;
  std::map<std::string, const CurveStyle*> styles;
  std::size_t most = 0;
  for (const Panel& panel : panels) {
    std::size_t labels = 0;
    for (const Curve& curve : panel.curves) {
      if (curve.label.empty()) continue;
      ++labels;
      const auto [known, is_new] = styles.try_emplace(curve.label, &curve.style);
      if (!is_new && *known->second != curve.style) return false;
    }
    most = std::max(most, labels);
  }
  return styles.size() == most;
}

struct Place {
  Box box;
  double head;  ///< height of what stands above the plot
  double plot_height;
  bool has_legend;
};

void draw_panel(Canvas& canvas, const Panel& panel, const Place& place) {
  const Box& box = place.box;
  if (!panel.title.empty()) {
    canvas.text({box.left + outer, box.top + 17.0}, panel.title,
                {.size = 13.0, .colour = ink, .bold = true});
  }
  if (place.has_legend) {
    Legend({&panel, 1}, box.width - 2.0 * outer)
        .draw(canvas, {box.left + outer, box.top + height_of_title(panel)});
  }

  Frame frame{.box = {},
              .x = x_range(panel),
              .y = y_range(panel),
              .x_scale = panel.x.scale,
              .y_scale = panel.y.scale};
  double left = 0.0;
  for (const Tick& tick : ticks_of(frame.y.low, frame.y.high, frame.y_scale)) {
    left = std::max(left, text_width(tick.label, tick_size));
  }
  left += 34.0;
  const double right = panel.shows_factors ? 48.0 : 16.0;
  frame.box = {box.left + left, box.top + place.head, box.width - left - right, place.plot_height};

  draw_axes(canvas, frame, panel);
  canvas.clip(frame.box);
  for (const Curve& curve : panel.curves) draw_band(canvas, frame, curve);
  for (const double guide : panel.guides) {
    const double y = frame.y_at_place(place_of(guide, panel.y.scale));
    canvas.line({{frame.box.left, y}, {frame.box.right(), y}}, {axis_colour, 1.0});
  }
  for (const Curve& curve : panel.curves) draw_curve(canvas, frame, curve);
  draw_notes(canvas, frame, panel.notes);
  canvas.unclip();
}

}  // namespace

void draw(const Figure& figure, const std::filesystem::path& folder) {
  const std::span<const Panel> panels(figure.panels);
  const std::size_t columns = std::max<std::size_t>(1, std::min(figure.columns, panels.size()));
  const double width = panel_width(columns);
  const double whole_width = width * static_cast<double>(columns);
  const bool shared = shares_legend(figure.panels);
  const Legend legend(shared ? panels : panels.first(0), whole_width - 2.0 * outer);
  constexpr double foot = 50.0;

  // The plots of a row stand side by side, below the highest head of the row.
  std::vector<double> heads;
  double height = shared ? legend.height() + 6.0 : 0.0;
  double top = height;
  for (std::size_t first = 0; first < panels.size(); first += columns) {
    double head = 0.0;
    for (const Panel& panel : panels.subspan(first, std::min(columns, panels.size() - first))) {
      const double own = shared ? 0.0 : Legend({&panel, 1}, width - 2.0 * outer).height();
      head = std::max(head, height_of_title(panel) + own + 6.0);
    }
    heads.push_back(head);
    height += head + figure.plot_height + foot;
  }

  Canvas canvas(whole_width, height);
  legend.draw(canvas, {outer, 4.0});
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double head = heads[i / columns];
    const double left = width * static_cast<double>(i % columns);
    const double panel_height = head + figure.plot_height + foot;
    draw_panel(canvas, panels[i],
               {{left, top, width, panel_height}, head, figure.plot_height, !shared});
    if (i % columns == columns - 1) top += panel_height;
  }
  canvas.write_svg(folder / (figure.name + ".svg"), figure.caption);
  canvas.write_png(folder / (figure.name + ".png"), 2.0);
}

}  // namespace rehmc::experiments
