#include "data/embedded.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "data/embedded_files.h"

namespace stagecraft {

std::string_view EmbeddedFile(std::string_view name) {
  const auto names = EmbeddedFileNames();
  const auto found = std::lower_bound(names.begin(), names.end(), name);
  if (found == names.end() || *found != name) {
    // As CHECK does; data stands below costmodel and cannot use it.
    std::fprintf(stderr, "no embedded file %.*s\n", static_cast<int>(name.size()), name.data());
    std::abort();
  }
  return kEmbeddedContents[found - names.begin()];
}

std::span<const std::string_view> EmbeddedFileNames() { return kEmbeddedNames; }

}  // namespace stagecraft
