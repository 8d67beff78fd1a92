// The names of an enum's enumerators as they stand in the code, for tests that compare an enum
// with its twin: a proto that numbers the same values in the same order.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/generated_enum_reflection.h>
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stagecraft {

// Returns "kAllReduce" for OpKind::kAllReduce, and an empty text for a value that no enumerator
// has. It is a part of what the compiler calls this function: gcc "... [with auto value =
// stagecraft::OpKind::kAllReduce; ...]", clang "... [value = stagecraft::OpKind::kAllReduce]", and
// both "(stagecraft::OpKind)99" for a value without a name.
template <auto value>
std::string EnumeratorName() {
  constexpr std::string_view kMark = "value = ";
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find(kMark) + kMark.size());
  text = text.substr(0, text.find_first_of(";]"));
  text.remove_prefix(text.rfind(':') + 1);
  return text.find(')') == std::string_view::npos ? std::string(text) : "";
}

// Returns the names of all enumerators, whose values must be 0, 1 and so on without a gap.
template <typename Enum, int... values>
std::vector<std::string> EnumeratorNames(std::integer_sequence<int, values...>) {
  std::vector<std::string> names = {EnumeratorName<static_cast<Enum>(values)>()...};
  while (!names.empty() && names.back().empty()) names.pop_back();
  return names;
}

template <typename Enum>
std::vector<std::string> EnumeratorNames() {
  constexpr int kMost = 64;
  return EnumeratorNames<Enum>(std::make_integer_sequence<int, kMost>());
}

// Returns "allreduce" for "kAllReduce" and for "ALL_REDUCE".
inline std::string PlainName(std::string_view name) {
  std::string plain;
  if (name.starts_with('k')) name.remove_prefix(1);
  for (const char c : name) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

// Expects the proto to have a value for every enumerator and no other, of the same name and in the
// same order: numbered from 0, or from 1 after a value ..._UNSPECIFIED. `other_names` contains the
// proto's names of enumerators that have different names in code.
template <typename Enum, typename ProtoEnum>
void ExpectTwins(const std::map<std::string, std::string>& other_names = {}) {
  const auto* proto = google::protobuf::GetEnumDescriptor<ProtoEnum>();
  const std::string first = proto->value(0)->name();
  const int offset = first.ends_with("_UNSPECIFIED") ? 1 : 0;
  std::vector<std::pair<int, std::string>> want, got;
  for (const std::string& name : EnumeratorNames<Enum>()) {
    const auto other = other_names.find(name);
    const std::string& shown = other == other_names.end() ? name : other->second;
    want.emplace_back(static_cast<int>(want.size()) + offset, PlainName(shown));
  }
  for (int i = offset; i < proto->value_count(); ++i) {
    got.emplace_back(proto->value(i)->number(), PlainName(proto->value(i)->name()));
  }
  EXPECT_FALSE(want.empty());
  EXPECT_EQ(got, want) << proto->full_name();
}

}  // namespace stagecraft
