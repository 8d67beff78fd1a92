// Protobuf messages as files that people can read.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace stagecraft {

// Returns the text of a file with this extension: JSON for .json, YAML for .yaml and .yml,
// otherwise protobuf's text format, with comments that name the message. Keys are the names of the
// fields.
std::string ProtoText(const google::protobuf::Message& message, const std::string& extension);

// Throws InputError that names `flag` unless `path` has the extension of such a file. Binary files
// (.pb) are refused, because they do not say which message they hold.
void CheckProtoTextPath(const std::string& flag, const std::string& path);

}  // namespace stagecraft
