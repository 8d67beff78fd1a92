#include "costmodel/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "costmodel/listed.h"

namespace stagecraft {
namespace {

constexpr size_t kMaxSuggestions = 3;
constexpr size_t kFewNames = 5;  // so few that all may be listed
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

// Half of the letters, without the dashes of a flag.
int MostDifferences(const std::string& name) {
  const size_t begin = std::min(name.find_first_not_of('-'), name.size());
  return std::max(1, static_cast<int>(name.size() - begin) / 2);
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
  if (ranked.empty()) return "";
  std::vector<std::string> near;
  for (const auto& [distance, name] : ranked) {
    if (distance <= MostDifferences(folded) && near.size() < kMaxSuggestions) near.push_back(name);
  }
  if (!near.empty()) return "did you mean " + Listed(near, " or ", "\"") + "?";
  if (ranked.size() > kFewNames) return "no known name is similar";
  for (const auto& [distance, name] : ranked) near.push_back(name);
  return "want " + Listed(near, " or ", "\"");
}

}  // namespace stagecraft
