// Protobuf messages as YAML that people can read.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace stagecraft {

// Returns a line for each field that is set, in the order of their numbers: "zero: 1",
// "degrees: {tp: 8, pp: 4}". Messages and lists that do not fit on a line of 100 characters have a
// line for each of their fields or elements. Precondition: no field is a map or bytes.
std::string YamlText(const google::protobuf::Message& message);

}  // namespace stagecraft
