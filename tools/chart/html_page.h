// A self-contained page, light or dark as the reader's screen; for tables and for the charts of
// svg_chart.h and curve_chart.h.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// `body` is HTML in UTF-8. Same input, same bytes.
std::string HtmlPage(const std::string& title, const std::string& body);

// A row of a table; `tag` is "th" or "td". Cells are text.
std::string HtmlRow(const std::vector<std::string>& cells, const char* tag);

}  // namespace stagecraft
