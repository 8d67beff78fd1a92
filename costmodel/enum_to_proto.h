// Enums as protos that name them in the same order, from one.
#pragma once

namespace stagecraft {

template <typename ProtoEnum, typename Enum>
ProtoEnum EnumToProto(Enum value) {
  return static_cast<ProtoEnum>(static_cast<int>(value) + 1);
}

}  // namespace stagecraft
