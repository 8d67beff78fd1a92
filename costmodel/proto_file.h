// Reads any structured file into a protobuf message, and writes files as a whole.
//
// The extension decides the format: .textproto, .pbtxt, .txtpb (TextFormat); .json; .yaml, .yml;
// .pb (binary). JSON and YAML keys are the field names of the .proto, or their lowerCamelCase. Enum
// values are their names, in any letter case and with '-' in place of '_'.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace stagecraft {

// Clears `message` and fills it from the file. Throws InputError for a missing, empty or malformed
// file, for unknown or repeated keys, and for numbers that are out of range or not finite:
// "cluster.yaml: node_groups[1].count: got "abc", want a whole number".
void ReadProtoFile(const std::string& path, google::protobuf::Message* message);

// The same for text in memory. `extension` includes its dot: ".yaml".
void ParseProtoText(const std::string& text, const std::string& name_for_errors,
                    const std::string& extension, google::protobuf::Message* message);

// Whether the extension is one of those above.
bool IsProtoExtension(const std::string& extension);

// Returns the bytes of a file of at most 2 GiB. Throws InputError if it is missing, is a directory
// or cannot be read.
std::string ReadFile(const std::string& path);

// Writes to a temporary file beside `path` and renames it, so that no reader sees half a file;
// anything that is not a regular file (/dev/stdout, a pipe) is written directly. Throws InputError
// if the directory is missing, std::runtime_error if the disk fails.
void WriteFileAtomically(const std::string& path, const std::string& contents);

}  // namespace stagecraft
