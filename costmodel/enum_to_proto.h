// Converts an enum to a proto enum that lists the same values in the same order, numbered from 1;
// tests/enum_twins_test.cc compares the names.
#pragma once

namespace stagecraft {

template <typename ProtoEnum, typename Enum>
ProtoEnum EnumToProto(Enum value) {
  return static_cast<ProtoEnum>(static_cast<int>(value) + 1);
}

}  // namespace stagecraft
