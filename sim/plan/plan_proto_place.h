// PlanPlace: the place of a value in a PlanProto, for error messages about it.
#pragma once

#include <fmt/core.h>
#include <google/protobuf/generated_enum_reflection.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "costmodel/check.h"
#include "sim/workload/limits.h"

namespace stagecraft {

// The text is put together only for an error; Fail() and the functions that check throw InputError.
struct PlanPlace {
  std::string file;
  std::string message = "";  // "stages[3]." or ""

  [[noreturn]] void Fail(std::string_view field, const std::string& problem) const {
    throw InputError(fmt::format("{}: {}{}: {}", file, message, field, problem));
  }
  int64_t InRange(std::string_view field, int64_t value, int64_t least, int64_t most) const {
    if (value < least || value > most) {
      Fail(field, fmt::format("got {}, want {} to {}", value, least, most));
    }
    return value;
  }
  int Degree(std::string_view field, bool is_present, int64_t value) const {
    return is_present ? static_cast<int>(InRange(field, value, 1, kMostOfADegree)) : 1;
  }
};

// The protos number these enums from one, in the same order; zero is "unspecified", which means
// `otherwise`.
template <typename Enum, typename ProtoEnum>
Enum EnumFromProto(ProtoEnum value, Enum otherwise, std::string_view field,
                   const PlanPlace& place) {
  const auto* names = google::protobuf::GetEnumDescriptor<ProtoEnum>();
  place.InRange(field, static_cast<int>(value), 0, names->value_count() - 1);
  return value == 0 ? otherwise : static_cast<Enum>(static_cast<int>(value) - 1);
}

}  // namespace stagecraft
