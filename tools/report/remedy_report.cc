#include "tools/report/remedy_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace stagecraft {

std::string RemediesText(const std::vector<Remedy>& remedies) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : remedies) {
    texts.push_back(fmt::format("{} ({:.2f} of {:.2f} GiB)", fmt::join(remedy.flags, " and "),
                                remedy.peak.gib(), remedy.capacity.gib()));
  }
  return fmt::format("{}", fmt::join(texts, ", or "));
}

nlohmann::ordered_json RemediesToJson(const std::vector<Remedy>& remedies) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Remedy& remedy : remedies) {
    json.push_back({{"flags", remedy.flags},
                    {"peak_gib", remedy.peak.gib()},
                    {"usable_gib", remedy.capacity.gib()}});
  }
  return json;
}

}  // namespace stagecraft
