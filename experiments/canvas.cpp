// A drawing written as SVG by hand and as PNG by cairo.
#include "experiments/canvas.hpp"

#include <cairo.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc::experiments {
namespace {

/// Has the subscripts, superscripts and signs that labels use; matplotlib's choice too.
constexpr const char* font = "DejaVu Sans";

/// A coordinate to a tenth of a pixel, without needless zeros.
std::string pixel(double value) {
  const double rounded = std::round(value * 10.0) / 10.0;
  return fmt::format("{:g}", rounded == 0.0 ? 0.0 : rounded);  // no "-0"
}

std::string hex(const Colour& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string opacity(const char* what, const Colour& colour) {
  return colour.opacity < 1.0 ? fmt::format(" {}-opacity=\"{:.2g}\"", what, colour.opacity) : "";
}

std::string path_of(const std::vector<Point>& points) {
  std::string path;
  for (const Point& point : points) {
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", pixel(point.x), pixel(point.y));
  }
  return path;
}

std::string stroke_of(const Stroke& stroke) {
  std::string text = fmt::format(" stroke=\"{}\" stroke-width=\"{:g}\"{}", hex(stroke.colour),
                                 stroke.width, opacity("stroke", stroke.colour));
  if (!stroke.dash.empty()) {
    text += fmt::format(" stroke-dasharray=\"{}\"", fmt::join(stroke.dash, " "));
  }
  return text;
}

struct Destroy {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Surface = std::unique_ptr<cairo_surface_t, Destroy>;
using Context = std::unique_ptr<cairo_t, Destroy>;

void choose_font(cairo_t* context, double size, bool bold) {
  cairo_select_font_face(context, font, CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, size);
}

double measured_width(cairo_t* context, const std::string& letters) {
  cairo_text_extents_t extents;
  cairo_text_extents(context, letters.c_str(), &extents);
  return extents.x_advance;
}

}  // namespace

class SvgWriter {
 public:
  std::string document(const Canvas& canvas, const std::string& description) {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 "
        "{0:g} {1:g}\" role=\"img\" font-family=\"{2}, Verdana, sans-serif\">\n<desc>{3}</desc>\n"
        "<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"#fff\"/>\n",
        canvas.width_, canvas.height_, font, escaped(description));
    for (const Canvas::Item& item : canvas.items_) std::visit(*this, item);
    return std::move(out_) + "</svg>\n";
  }

  void operator()(const Canvas::Line& line) {
    out_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke-linejoin=\"round\"{}/>\n",
                        path_of(line.points), stroke_of(line.stroke));
  }
  void operator()(const Canvas::Area& area) {
    out_ += fmt::format("<path d=\"{}Z\" fill=\"{}\"{}/>\n", path_of(area.corners), hex(area.fill),
                        opacity("fill", area.fill));
  }
  void operator()(const Canvas::Circle& circle) {
    out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{:g}\" fill=\"{}\"{}{}/>\n",
                        pixel(circle.centre.x), pixel(circle.centre.y), circle.radius,
                        hex(circle.fill), opacity("fill", circle.fill), stroke_of(circle.edge));
  }
  void operator()(const Canvas::Text& text) {
    constexpr const char* anchors[] = {"start", "middle", "end"};
    const std::string x = pixel(text.place.x);
    const std::string y = pixel(text.place.y);
    out_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{:g}\" text-anchor=\"{}\" fill=\"{}\"",
                        x, y, text.style.size, anchors[static_cast<int>(text.style.anchor)],
                        hex(text.style.colour));
    if (text.style.bold) out_ += " font-weight=\"bold\"";
    if (text.style.upwards) out_ += fmt::format(" transform=\"rotate(-90 {} {})\"", x, y);
    out_ += fmt::format(">{}</text>\n", escaped(text.letters));
  }
  void operator()(const Canvas::Clip& clip) {
    ++clips_;
    out_ += fmt::format(
        "<clipPath id=\"clip{0}\"><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\"/>"
        "</clipPath>\n<g clip-path=\"url(#clip{0})\">\n",
        clips_, pixel(clip.box.left), pixel(clip.box.top), pixel(clip.box.width),
        pixel(clip.box.height));
  }
  void operator()(const Canvas::Unclip&) { out_ += "</g>\n"; }

 private:
  std::string out_;
  int clips_ = 0;
};

class PngPainter {
 public:
  PngPainter(const Canvas& canvas, double scale)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                            static_cast<int>(std::ceil(canvas.width_ * scale)),
                                            static_cast<int>(std::ceil(canvas.height_ * scale)))),
        context_(cairo_create(surface_.get())) {
    cairo_set_source_rgb(context(), 1.0, 1.0, 1.0);
    cairo_paint(context());
    cairo_scale(context(), scale, scale);
    cairo_set_line_join(context(), CAIRO_LINE_JOIN_ROUND);
    for (const Canvas::Item& item : canvas.items_) std::visit(*this, item);
  }

  void write(const std::filesystem::path& path) const {
    std::string bytes;
    const auto append = [](void* to, const unsigned char* data, unsigned length) {
      static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
      return CAIRO_STATUS_SUCCESS;
    };
    const cairo_status_t status = cairo_surface_write_to_png_stream(surface_.get(), append, &bytes);
    if (status != CAIRO_STATUS_SUCCESS) {
      throw FileError(
          fmt::format("cannot draw {}: {}", path.string(), cairo_status_to_string(status)));
    }
    write_whole(path, bytes);
  }

  void operator()(const Canvas::Line& line) {
    trace(line.points);
    draw_stroke(line.stroke);
  }
  void operator()(const Canvas::Area& area) {
    trace(area.corners);
    use(area.fill);
    cairo_fill(context());
  }
  void operator()(const Canvas::Circle& circle) {
    cairo_new_path(context());  // or a line would lead here from the last text
    cairo_arc(context(), circle.centre.x, circle.centre.y, circle.radius, 0.0,
              2.0 * std::numbers::pi);
    use(circle.fill);
    cairo_fill_preserve(context());
    draw_stroke(circle.edge);
  }
  void operator()(const Canvas::Text& text) {
    cairo_save(context());
    choose_font(context(), text.style.size, text.style.bold);
    use(text.style.colour);
    cairo_translate(context(), text.place.x, text.place.y);
    if (text.style.upwards) cairo_rotate(context(), -std::numbers::pi / 2.0);
    const double share = 0.5 * static_cast<int>(text.style.anchor);
    cairo_move_to(context(), -share * measured_width(context(), text.letters), 0.0);
    cairo_show_text(context(), text.letters.c_str());
    cairo_restore(context());
  }
  void operator()(const Canvas::Clip& clip) {
    cairo_save(context());
    cairo_rectangle(context(), clip.box.left, clip.box.top, clip.box.width, clip.box.height);
    cairo_clip(context());
  }
  void operator()(const Canvas::Unclip&) { cairo_restore(context()); }

 private:
  cairo_t* context() const { return context_.get(); }

  void use(const Colour& colour) {
    cairo_set_source_rgba(context(), colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0,
                          colour.opacity);
  }
  void trace(const std::vector<Point>& points) {
    cairo_new_path(context());
    for (const Point& point : points) cairo_line_to(context(), point.x, point.y);
  }
  void draw_stroke(const Stroke& stroke) {
    use(stroke.colour);
    cairo_set_line_width(context(), stroke.width);
    cairo_set_dash(context(), stroke.dash.data(), static_cast<int>(stroke.dash.size()), 0.0);
    cairo_stroke(context());
  }

  Surface surface_;
  Context context_;
};

void Canvas::line(std::vector<Point> points, const Stroke& stroke) {
  items_.push_back(Line{std::move(points), stroke});
}

void Canvas::area(std::vector<Point> corners, const Colour& fill) {
  items_.push_back(Area{std::move(corners), fill});
}

void Canvas::circle(const Point& centre, double radius, const Colour& fill, const Stroke& edge) {
  items_.push_back(Circle{centre, radius, fill, edge});
}

void Canvas::text(const Point& place, const std::string& letters, const TextStyle& style) {
  items_.push_back(Text{place, letters, style});
}

void Canvas::clip(const Box& box) { items_.push_back(Clip{box}); }

void Canvas::unclip() { items_.push_back(Unclip{}); }

void Canvas::write_svg(const std::filesystem::path& path, const std::string& description) const {
  write_whole(path, SvgWriter().document(*this, description));
}

void Canvas::write_png(const std::filesystem::path& path, double scale) const {
  PngPainter(*this, scale).write(path);
}

double text_width(const std::string& letters, double size, bool bold) {
  thread_local const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1));
  thread_local const Context context(cairo_create(surface.get()));
  choose_font(context.get(), size, bold);
  return measured_width(context.get(), letters);
}

std::string escaped(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (const char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

}  // namespace rehmc::experiments
