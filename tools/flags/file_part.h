// FilePart: a message that a file holds, by itself or as a part of a larger one.
#pragma once

#include <filesystem>
#include <string>

#include "costmodel/proto_file.h"

namespace stagecraft {

template <typename Proto>
struct FilePart {
  Proto proto;
  std::string name;    // with which errors begin: "plan.yaml", or "job.yaml: plan"
  std::string folder;  // to which the files that it names are relative; may be empty
};

// Reads a whole file. Throws InputError as ReadProtoFile() does.
template <typename Proto>
FilePart<Proto> ReadPart(const std::string& path) {
  FilePart<Proto> part;
  ReadProtoFile(path, &part.proto);
  part.name = path;
  part.folder = std::filesystem::path(path).parent_path().string();
  return part;
}

}  // namespace stagecraft
