#include "tools/import/hostlist.h"

#include <algorithm>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

constexpr int kMostDigits = 9;

void CheckCount(size_t count, const std::string& place) {
  if (count <= static_cast<size_t>(kMostHosts)) return;
  throw InputError(place + ": got more than " + std::to_string(kMostHosts) + " names, want fewer");
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() <= kMostDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string Padded(int64_t number, size_t width) {
  std::string text = std::to_string(number);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

// The numbers for which the text between two brackets stands: "000-003,010".
std::vector<std::string> ExpandRanges(std::string_view ranges, const std::string& place) {
  std::vector<std::string> numbers;
  for (const std::string_view range : SplitAt(ranges, ',')) {
    const size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == range.npos ? low : range.substr(dash + 1);
    if (!IsNumber(low) || !IsNumber(high)) {
      throw InputError(place + ": got " + Quoted(range) + " in brackets, want a range as 000-003");
    }
    const int64_t first = std::stoll(std::string(low));
    const int64_t last = std::stoll(std::string(high));
    if (last < first) {
      throw InputError(place + ": got the range " + Quoted(range) + ", want it to rise");
    }
    CheckCount(numbers.size() + static_cast<size_t>(last - first) + 1, place);
    for (int64_t i = first; i <= last; ++i) numbers.push_back(Padded(i, low.size()));
  }
  return numbers;
}

void Append(std::string_view part, const std::string& place, std::string* name) {
  if (name->size() + part.size() > kMostHostName) {
    throw InputError(place + ": got a name that opens with " +
                     Quoted(*name + std::string(part.substr(0, kMostHostName))) + ", want " +
                     std::to_string(kMostHostName) + " characters at most");
  }
  *name += part;
}

// The names for which one name with any number of brackets stands.
std::vector<std::string> ExpandName(std::string_view name, const std::string& place) {
  std::vector<std::string> names = {""};
  while (!name.empty()) {
    const size_t open = name.find('[');
    for (std::string& one : names) Append(name.substr(0, open), place, &one);
    if (open == name.npos) break;
    const size_t close = name.find(']', open);
    const std::vector<std::string> numbers =
        ExpandRanges(name.substr(open + 1, close - open - 1), place);
    CheckCount(names.size() * numbers.size(), place);
    std::vector<std::string> longer;
    for (const std::string& one : names) {
      for (const std::string& number : numbers) {
        Append(number, place, &longer.emplace_back(one));
      }
    }
    names = std::move(longer);
    name.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace

std::vector<std::string> ExpandHostlist(std::string_view list, const std::string& place) {
  std::vector<std::string> hosts;
  size_t begin = 0;
  bool is_inside = false;
  for (size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (c == '[' || c == ']') {
      if (is_inside == (c == '[')) {
        throw InputError(place + ": got " + Quoted(list) + ", want brackets in pairs");
      }
      is_inside = c == '[';
    }
    if (c != ',' || (is_inside && at < list.size())) continue;
    const std::string_view name = list.substr(begin, at - begin);
    if (is_inside || name.empty()) {
      throw InputError(place + ": got " + Quoted(list) + ", want names separated by commas");
    }
    std::vector<std::string> expanded = ExpandName(name, place);
    CheckCount(hosts.size() + expanded.size(), place);
    hosts.insert(hosts.end(), std::make_move_iterator(expanded.begin()),
                 std::make_move_iterator(expanded.end()));
    begin = at + 1;
  }
  return hosts;
}

}  // namespace stagecraft
