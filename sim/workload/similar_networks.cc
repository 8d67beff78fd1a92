#include "sim/workload/similar_networks.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

#include "costmodel/listed.h"

namespace stagecraft {
namespace {

constexpr size_t kMostSuggestions = 3;
constexpr size_t kMostOfFamily = 8;
constexpr size_t kLeastFamily = 3;  // letters that name a family
constexpr char kAll[] = "`stagecraft catalogue models` lists all";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Small letters and digits alone.
std::string Squeezed(const std::string& name) {
  std::string squeezed;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) squeezed += static_cast<char>(std::tolower(byte));
  }
  return squeezed;
}

std::string Digits(const std::string& squeezed) {
  std::string digits;
  std::copy_if(squeezed.begin(), squeezed.end(), std::back_inserter(digits), IsDigit);
  return digits;
}

// The letters before the first digit.
std::string Family(const std::string& squeezed) {
  return std::string(squeezed.begin(), std::find_if(squeezed.begin(), squeezed.end(), IsDigit));
}

// Whether one letter more, less or in place of another makes them the same.
bool AreOneLetterApart(std::string_view a, std::string_view b) {
  const size_t longer = std::max(a.size(), b.size());
  const size_t shorter = std::min(a.size(), b.size());
  if (longer - shorter > 1) return false;
  size_t begin = 0;
  while (begin < shorter && a[begin] == b[begin]) ++begin;
  size_t end = 0;
  while (end < shorter - begin && a[a.size() - 1 - end] == b[b.size() - 1 - end]) ++end;
  return begin + end + 1 >= longer;
}

bool IsSimilar(const std::string& wanted, const std::string& known) {
  if (wanted.empty()) return false;
  return known.starts_with(wanted) ||
         (Digits(wanted) == Digits(known) && AreOneLetterApart(wanted, known));
}

}  // namespace

std::string SimilarNetworks(const std::string& wanted, const std::vector<std::string>& known) {
  const std::string name = Squeezed(wanted);
  const std::string family = Family(name);
  std::vector<std::string> sorted = known;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::string> similar;
  std::vector<std::string> relatives;
  for (const std::string& candidate : sorted) {
    const std::string squeezed = Squeezed(candidate);
    if (IsSimilar(name, squeezed)) similar.push_back(candidate);
    const bool is_path = candidate.find('/') != std::string::npos;  // an alias of a hub
    if (family.size() >= kLeastFamily && !is_path && squeezed.starts_with(family)) {
      relatives.push_back(candidate);
    }
  }
  if (!similar.empty()) {
    similar.resize(std::min(similar.size(), kMostSuggestions));
    return "did you mean " + Listed(similar, " or ", "\"") + "?";
  }
  if (relatives.empty()) return kAll;
  const bool has_more = relatives.size() > kMostOfFamily;
  relatives.resize(std::min(relatives.size(), kMostOfFamily));
  return "of " + family + " there are " + Listed(relatives, has_more ? ", " : " and ", "\"") +
         (has_more ? ", …; " : "; ") + kAll;
}

}  // namespace stagecraft
