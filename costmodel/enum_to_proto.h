// Enums as protos that name them in the same order, from one; tests/enum_twins_test.cc compares the
// names.
#pragma once

namespace stagecraft {

template <typename ProtoEnum, typename Enum>
ProtoEnum EnumToProto(Enum value) {
  return static_cast<ProtoEnum>(static_cast<int>(value) + 1);
}

}  // namespace stagecraft
