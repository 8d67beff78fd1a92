// What pages with charts hold besides their data: files that are embedded in the binary.
#pragma once

#include <string_view>

namespace stagecraft {

std::string_view ChartLibrary();  // Chart.js, as Debian's libjs-chart.js has it
std::string_view ChartScript();   // web/charts.js, which draws with it
std::string_view ChartStyle();    // web/charts.css
std::string_view ChartLicence();  // web/licence.txt: of Chart.js and of what it includes

}  // namespace stagecraft
