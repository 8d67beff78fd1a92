#include "costmodel/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace stagecraft {
namespace {

constexpr size_t kMaxSuggestions = 3;
// Longer names are cut before comparing: the distance is quadratic.
constexpr size_t kMaxCompared = 100;

std::string Folded(const std::string& name) {
  std::string folded = name.substr(0, kMaxCompared);
  for (char& c : folded) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return folded;
}

// Levenshtein distance.
int Distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearestNames(const std::string& wanted, const std::vector<std::string>& known) {
  const std::string folded = Folded(wanted);
  std::vector<std::pair<int, std::string>> ranked;
  for (const std::string& name : known) {
    const std::string candidate = Folded(name);
    const bool continues = !folded.empty() && candidate.starts_with(folded);
    ranked.emplace_back(continues ? 0 : Distance(folded, candidate), name);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  const size_t count = std::min(ranked.size(), kMaxSuggestions);
  if (count == 0) return "";
  std::string text = "did you mean ";
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += i + 1 == count ? " or " : ", ";
    text += '"' + ranked[i].second + '"';
  }
  return text + "?";
}

}  // namespace stagecraft
