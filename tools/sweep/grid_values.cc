#include "tools/sweep/grid_values.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <set>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using google::protobuf::Value;

constexpr int kMostOfRange = 1'000'000;

// Twelve digits, so that 0.1 + 0.1 + 0.1 is 0.3.
std::string NumberText(double number) {
  constexpr double kMostExact = 9007199254740992.0;  // 2^53
  if (number == std::floor(number) && std::abs(number) < kMostExact) {
    return std::to_string(static_cast<int64_t>(number));
  }
  return fmt::format("{:.12g}", number);
}

[[noreturn]] void Refuse(const std::string& place, const std::string& got,
                         const std::string& want) {
  throw InputError(fmt::format("{}: got {}, want {}", place, got, want));
}

struct Range {
  double from = 0, to = 0, by = 0;
  bool multiplies = false;
};

Range ReadRange(const google::protobuf::Struct& fields, const std::string& place) {
  Range range;
  std::set<std::string> given;
  for (const auto& [key, value] : fields.fields()) {
    const bool is_known = key == "from" || key == "to" || key == "times" || key == "step";
    if (!is_known) Refuse(place, "key \"" + key + "\"", "from, to, and times or step");
    if (!value.has_number_value() || !std::isfinite(value.number_value())) {
      Refuse(place + "." + key, "no number", "a number");
    }
    double& to = key == "from" ? range.from : key == "to" ? range.to : range.by;
    to = value.number_value();
    given.insert(key);
  }
  range.multiplies = given.count("times") > 0;
  if (given.size() != 3 || given.count("from") == 0 || given.count("to") == 0) {
    Refuse(place, fmt::format("a range of {} keys", given.size()),
           "from, to, and one of times and step");
  }
  if (range.multiplies && !(range.from > 0 && range.by > 1)) {
    Refuse(place, fmt::format("from {} times {}", NumberText(range.from), NumberText(range.by)),
           "from above 0 and times above 1");
  }
  if (!range.multiplies && !(range.by > 0)) {
    Refuse(place + ".step", NumberText(range.by), "a number above 0");
  }
  if (range.to < range.from) {
    Refuse(place,
           fmt::format("a range from {} to {}", NumberText(range.from), NumberText(range.to)),
           "one that ends after it begins");
  }
  return range;
}

std::vector<std::string> RangeValues(const Range& range, const std::string& place) {
  std::vector<std::string> values;
  // An end that rounding misses by a hair belongs to the range.
  const double end = range.to + 1e-12 * std::abs(range.to);
  for (int i = 0;; ++i) {
    const double value =
        range.multiplies ? range.from * std::pow(range.by, i) : range.from + i * range.by;
    if (!(value <= end)) return values;
    if (i == kMostOfRange) {
      Refuse(place, fmt::format("a range of more than {} values", kMostOfRange), "a shorter one");
    }
    values.push_back(NumberText(value));
  }
}

}  // namespace

std::string GridValue(const Value& value, const GridFlag& flag, const std::string& place) {
  switch (value.kind_case()) {
    case Value::kBoolValue:
      if (!flag.is_switch) Refuse(place, value.bool_value() ? "true" : "false", "a value to type");
      return value.bool_value() ? "true" : "false";
    case Value::kNumberValue:
      if (flag.is_switch) Refuse(place, NumberText(value.number_value()), "true or false");
      if (!std::isfinite(value.number_value())) Refuse(place, "no finite number", "one");
      return NumberText(value.number_value());
    case Value::kStringValue:
      if (flag.is_switch) Refuse(place, "\"" + value.string_value() + "\"", "true or false");
      if (value.string_value().empty()) Refuse(place, "\"\"", "a value");
      return value.string_value();
    case Value::kListValue:
      Refuse(place, "a list", "one value; a list that a flag takes is one text, with commas");
    case Value::kStructValue:
      Refuse(place, "a map", "one value");
    default:
      Refuse(place, "no value", "one");
  }
}

std::vector<std::string> GridValues(const Value& value, const GridFlag& flag,
                                    const std::string& place) {
  std::vector<std::string> values;
  if (value.has_struct_value()) {
    if (flag.is_switch) Refuse(place, "a range", "true, false, or a list of both");
    values = RangeValues(ReadRange(value.struct_value(), place), place);
  } else if (value.has_list_value()) {
    const auto& list = value.list_value().values();
    for (int i = 0; i < list.size(); ++i) {
      values.push_back(GridValue(list[i], flag, fmt::format("{}[{}]", place, i)));
    }
    if (values.empty()) Refuse(place, "an empty list", "at least one value");
  } else {
    values.push_back(GridValue(value, flag, place));
  }
  std::set<std::string> seen;
  for (const std::string& one : values) {
    if (!seen.insert(one).second) Refuse(place, "\"" + one + "\" twice", "every value once");
  }
  return values;
}

}  // namespace stagecraft
