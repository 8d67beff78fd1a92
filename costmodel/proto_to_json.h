// The JSON of a protobuf message, in which all numbers are numbers.
#pragma once

#include <google/protobuf/message.h>

#include <nlohmann/json_fwd.hpp>

namespace stagecraft {

// Returns an object with a key for every field, in the order of the message's definition: fields
// without a value are left out if they can be absent, and have their default otherwise. Keys are
// the names of the fields, and enums those of their values. Unlike in proto3's own JSON, integers
// of 64 bits are numbers; JsonToProto() reads both exactly. Preconditions: the message has no maps
// and no bytes; doubles are finite and text is UTF-8.
nlohmann::ordered_json ProtoToJson(const google::protobuf::Message& message);

}  // namespace stagecraft
