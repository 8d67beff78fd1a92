// Reads any structured file into a protobuf message, and writes files whole.
//
// The extension decides the format: .textproto, .pbtxt, .txtpb (TextFormat);
// .json; .yaml, .yml; .pb (binary). JSON and YAML keys are the field names of
// the .proto, or their lowerCamelCase. Enum values are their names, in any case
// and with '-' for '_'.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace stagecraft {

// Clears `message` and fills it from the file. Throws InputError for a missing,
// empty or malformed file, unknown or repeated keys, numbers out of range and
// non-finite numbers: "cluster.yaml: node_groups[1].count: got "abc", want a
// whole number".
void ReadProtoFile(const std::string& path, google::protobuf::Message* message);

// The same from memory. `extension` with its dot: ".yaml".
void ParseProtoText(const std::string& text, const std::string& name_for_errors,
                    const std::string& extension, google::protobuf::Message* message);

// True for the extensions above.
bool IsProtoExtension(const std::string& extension);

// The bytes of a file of at most 2 GiB. Throws InputError if it is missing, a
// directory or unreadable.
std::string ReadFile(const std::string& path);

// Writes beside `path` and renames, so that no reader sees half a file; what is
// not a regular file (/dev/stdout, a pipe) is written directly. Throws
// InputError if the directory is missing, std::runtime_error if the disk fails.
void WriteFileAtomically(const std::string& path, const std::string& contents);

}  // namespace stagecraft
