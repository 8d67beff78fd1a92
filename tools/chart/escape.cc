#include "tools/chart/escape.h"

namespace stagecraft {

std::string EscapeXml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += static_cast<unsigned char>(c) < ' ' && c != '\n' ? '?' : c;
    }
  }
  return escaped;
}

}  // namespace stagecraft
