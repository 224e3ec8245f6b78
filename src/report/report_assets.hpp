// The files that make up the report's page, embedded by cmake/Embed.cmake.
#pragma once

#include <string_view>

namespace rehmc::report_assets {

extern const std::string_view page_html;  ///< with {{names}} where the other files go
extern const std::string_view page_css;
extern const std::string_view chart_min_js;  ///< Chart.js

// The page's script, in pieces; page.html has their order.
extern const std::string_view charts_js;
extern const std::string_view checks_js;
extern const std::string_view data_js;
extern const std::string_view forest_js;
extern const std::string_view format_js;
extern const std::string_view gains_js;
extern const std::string_view headline_js;
extern const std::string_view main_js;
extern const std::string_view pairs_js;
extern const std::string_view parameter_js;
extern const std::string_view predictive_js;
extern const std::string_view settings_js;
extern const std::string_view svg_js;
extern const std::string_view table_js;
extern const std::string_view trajectory_js;
extern const std::string_view warmup_js;

}  // namespace rehmc::report_assets
