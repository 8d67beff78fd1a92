#include "costmodel/missing_keys.h"

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {

void MissingKeys::Want(const std::string& key, bool is_given) {
  if (!is_given) keys_.push_back(key);
}

void MissingKeys::WantInside(const std::string& key, const MissingKeys& part) {
  for (const std::string& inside : part.keys_) keys_.push_back(key + "." + inside);
}

void MissingKeys::Check(const std::string& prefix) const {
  if (keys_.size() < 2) return;
  throw InputError(prefix + Join(keys_, ", ") + ": got none of these, want all of them");
}

}  // namespace stagecraft
