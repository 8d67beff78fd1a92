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

// Returns the number of letters that are added, left out, replaced or swapped with the next one
// (optimal string alignment).
int Distance(const std::string& a, const std::string& b) {
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool are_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// Returns how many letters may differ: a third of them, not counting the dashes of a flag, but at
// least two, or one if the name has no more than four.
int MostDifferences(const std::string& name) {
  const size_t begin = std::min(name.find_first_not_of('-'), name.size());
  const int letters = static_cast<int>(name.size() - begin);
  return letters <= 4 ? 1 : std::max(2, letters / 3);
}

using Ranked = std::vector<std::pair<int, std::string>>;  // distance from the wanted name, name

// Returns the known names, the nearest first.
Ranked Rank(const std::string& wanted, const std::vector<std::string>& known) {
  const std::string folded = Folded(wanted);
  Ranked ranked;
  for (const std::string& name : known) {
    const std::string candidate = Folded(name);
    const bool continues = !folded.empty() && candidate.starts_with(folded);
    ranked.emplace_back(continues ? 0 : Distance(folded, candidate), name);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  return ranked;
}

// Returns 'did you mean "a"?'; empty if no name is near.
std::string Suggestion(const std::string& wanted, const Ranked& ranked) {
  const int most = MostDifferences(Folded(wanted));
  std::vector<std::string> near;
  for (const auto& [distance, name] : ranked) {
    if (distance <= most && near.size() < kMaxSuggestions) near.push_back(name);
  }
  return near.empty() ? "" : "did you mean " + Listed(near, " or ", "\"") + "?";
}

}  // namespace

std::string NearestNames(const std::string& wanted, const std::vector<std::string>& known) {
  const Ranked ranked = Rank(wanted, known);
  if (ranked.empty()) return "";
  const std::string suggestion = Suggestion(wanted, ranked);
  if (!suggestion.empty()) return suggestion;
  if (ranked.size() > kFewNames) return "no known name is similar";
  std::vector<std::string> all;
  for (const auto& [distance, name] : ranked) all.push_back(name);
  return "want " + Listed(all, " or ", "\"");
}

std::string DidYouMean(const std::string& wanted, const std::vector<std::string>& known) {
  const std::string suggestion = Suggestion(wanted, Rank(wanted, known));
  return suggestion.empty() ? "" : "; " + suggestion;
}

}  // namespace stagecraft
