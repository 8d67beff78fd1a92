// Functions for tests of HTML pages.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stagecraft {

// Returns how often `text` contains `part`.
inline int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Returns what each chart of the page says in JSON (chart_page.h), in order; a discarded value for
// what is no JSON.
inline std::vector<nlohmann::json> ChartsOf(const std::string& page) {
  const std::string begin = "<script type=\"application/json\">";
  std::vector<nlohmann::json> charts;
  for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    const size_t length = page.find("</script>", at) - at;
    charts.push_back(nlohmann::json::parse(page.substr(at, length), nullptr,
                                           /*allow_exceptions=*/false));
  }
  return charts;
}

// Returns why `page` is not well-formed XML, apart from its script; "" if it is. Knows only what
// the pages contain: elements, attributes in double quotes, one doctype.
inline std::string FindBadMarkup(const std::string& page) {
  std::vector<std::string> open;
  for (size_t i = page.find('>') + 1; i < page.size(); ++i) {
    if (page[i] != '<') continue;
    if (!open.empty() && open.back() == "script" && page.compare(i, 9, "</script>") != 0) continue;
    const size_t end = page.find('>', i);
    if (end == std::string::npos) return "no end of tag";
    const std::string tag = page.substr(i + 1, end - i - 1);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "quote in " + tag;
    const std::string name = tag.substr(0, tag.find(' '));
    if (name[0] == '/') {
      if (open.empty() || open.back() != name.substr(1)) return "unexpected " + name;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    i = end;
  }
  return open.empty() ? "" : "open " + open.back();
}

}  // namespace stagecraft
