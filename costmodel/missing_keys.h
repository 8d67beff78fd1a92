// MissingKeys: the keys that a part of a file lacks, so that one error names all of them.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

class MissingKeys {
 public:
  // Notes the key unless it is given.
  void Want(const std::string& key, bool is_given);
  // Notes what the part under `key` lacks: "inline_device.id".
  void WantInside(const std::string& key, const MissingKeys& part);

  // If two or more keys are missing, throws an InputError that opens with `prefix`, such as
  // "gpu.yaml: ", and names all of them. Leaves a single one to its reader, which says what it
  // wants.
  void Check(const std::string& prefix) const;

 private:
  std::vector<std::string> keys_;
};

}  // namespace stagecraft
