#include "tools/chart/web_assets.h"

#include <cstddef>

// The bytes of the files, which the targets of the same names in BUILD link in.
extern "C" {
extern const char stagecraft_chart_library_begin[];
extern const char stagecraft_chart_library_end[];
extern const char stagecraft_chart_script_begin[];
extern const char stagecraft_chart_script_end[];
extern const char stagecraft_chart_style_begin[];
extern const char stagecraft_chart_style_end[];
extern const char stagecraft_chart_licence_begin[];
extern const char stagecraft_chart_licence_end[];
}

namespace stagecraft {
namespace {

std::string_view Bytes(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::string_view ChartLibrary() {
  return Bytes(stagecraft_chart_library_begin, stagecraft_chart_library_end);
}
std::string_view ChartScript() {
  return Bytes(stagecraft_chart_script_begin, stagecraft_chart_script_end);
}
std::string_view ChartStyle() {
  return Bytes(stagecraft_chart_style_begin, stagecraft_chart_style_end);
}
std::string_view ChartLicence() {
  return Bytes(stagecraft_chart_licence_begin, stagecraft_chart_licence_end);
}

}  // namespace stagecraft
