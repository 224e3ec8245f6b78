// Assembles the page: its HTML, style, plotting library, script and data.
#include "rehmc/report/report.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "report_assets.hpp"
#include "report_data.hpp"

namespace rehmc {

namespace {

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

}  // namespace

std::string report_page(const SampleResult& result, const RunSummary& summary,
                        const ReportInfo& info) {
  namespace assets = report_assets;
  constexpr std::size_t most_title = 300;
  const std::string title =
      info.title.empty() ? "A run" : escaped(info.title.substr(0, most_title));
  const std::string data = report::report_data(result, summary, info);
  const std::map<std::string_view, std::string_view> parts{
      {"title", title},
      {"data", data},
      {"page.css", assets::page_css},
      {"chart.js", assets::chart_min_js},
      {"charts.js", assets::charts_js},
      {"checks.js", assets::checks_js},
      {"data.js", assets::data_js},
      {"forest.js", assets::forest_js},
      {"format.js", assets::format_js},
      {"gains.js", assets::gains_js},
      {"headline.js", assets::headline_js},
      {"main.js", assets::main_js},
      {"pairs.js", assets::pairs_js},
      {"parameter.js", assets::parameter_js},
      {"predictive.js", assets::predictive_js},
      {"settings.js", assets::settings_js},
      {"svg.js", assets::svg_js},
      {"table.js", assets::table_js},
      {"trajectory.js", assets::trajectory_js},
      {"warmup.js", assets::warmup_js},
  };

  // One pass over page.html: a {{name}} inside a part stays as it is.
  std::string page;
  std::string_view rest = assets::page_html;
  while (true) {
    const std::size_t open = rest.find("{{");
    page += rest.substr(0, open);
    if (open == std::string_view::npos) return page;
    const std::size_t close = rest.find("}}", open);
    page += parts.at(rest.substr(open + 2, close - open - 2));
    rest.remove_prefix(close + 2);
  }
}

}  // namespace rehmc
