// Messages as files that people read.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace stagecraft {

// For a file of this extension: .json, .yaml or .yml (JSON is YAML too), else text format
// that names its message. Keys are the fields' names.
std::string ProtoText(const google::protobuf::Message& message, const std::string& extension);

// Throws InputError that names `flag` where `path` is none of these files. A binary one is
// not: it would not say what it is.
void CheckProtoTextPath(const std::string& flag, const std::string& path);

}  // namespace stagecraft
