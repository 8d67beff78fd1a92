// The kinds of structured file, how each is recognised and how it is checked.
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/check/check_file.h"

namespace stagecraft {

struct FileKind {
  const char* name;
  // Top-level keys that only this kind has.
  std::vector<std::string> telling_keys;
  std::function<std::unique_ptr<google::protobuf::Message>()> make;
  // Runs the validating reader and describes what it found. `message` is what `make` made, filled
  // from the file at `path`. Throws InputError.
  std::function<std::string(const google::protobuf::Message& message, const std::string& path,
                            const CheckContext& context)>
      describe;
};

// Timeline comes before schedule: a binary file is of the first kind that fits.
const std::vector<FileKind>& FileKinds();

}  // namespace stagecraft
