// Puts the page together: skeleton, style, plotting library, script and data.
#include "rehmc/report/report.hpp"

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
  constexpr std::size_t most_title = 300;
  const std::string title =
      info.title.empty() ? "A run" : escaped(info.title.substr(0, most_title));
  const std::string data = report_data(result, summary, info);

  // One pass over the skeleton: a mark inside of what is put in stays as it is.
  std::string page;
  std::string_view rest = report_assets::page_html;
  while (true) {
    const std::size_t open = rest.find("{{");
    page += rest.substr(0, open);
    if (open == std::string_view::npos) return page;
    const std::size_t close = rest.find("}}", open);
    const std::string_view mark = rest.substr(open + 2, close - open - 2);
    if (mark == "title") page += title;
    if (mark == "style") page += report_assets::page_css;
    if (mark == "chart") page += report_assets::chart_min_js;
    if (mark == "script") page += report_assets::page_js;
    if (mark == "data") page += data;
    rest.remove_prefix(close + 2);
  }
}

}  // namespace rehmc
