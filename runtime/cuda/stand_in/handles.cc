#include "runtime/cuda/stand_in/handles.h"

#include <string_view>

namespace stagecraft::stand_in {

void LibraryObjects::Check(const void* object, const char* what) const {
  const auto own = alive_.find(object);
  if (own == alive_.end() || std::string_view(own->second.what) != what) {
    BreakContract(std::string("a ") + what + " is used that was never made or is destroyed");
  }
}

void LibraryObjects::Destroy(const void* object, const char* what) {
  Check(object, what);
  alive_.erase(object);
}

std::map<std::string, size_t> LibraryObjects::counts() const {
  std::map<std::string, size_t> counts;
  for (const auto& [object, own] : alive_) ++counts[own.what];
  return counts;
}

}  // namespace stagecraft::stand_in
