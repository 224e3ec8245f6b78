// The files that make up the report's page, embedded by cmake/Embed.cmake.
#pragma once

#include <string_view>

namespace rehmc::report_assets {

extern const std::string_view page_html;  ///< with {{marks}} where the rest goes
extern const std::string_view page_css;
extern const std::string_view page_js;
extern const std::string_view chart_min_js;  ///< Chart.js

}  // namespace rehmc::report_assets
