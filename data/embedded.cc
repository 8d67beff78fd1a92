#include "data/embedded.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "data/embedded_files.h"

// The bytes of the models, which the targets cost_model and network_model of BUILD link in.
extern "C" {
extern const char stagecraft_cost_model_begin[];
extern const char stagecraft_cost_model_end[];
extern const char stagecraft_network_model_begin[];
extern const char stagecraft_network_model_end[];
}

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

std::string_view EmbeddedCostModel() {
  return {stagecraft_cost_model_begin,
          static_cast<size_t>(stagecraft_cost_model_end - stagecraft_cost_model_begin)};
}

std::string_view EmbeddedNetworkModel() {
  return {stagecraft_network_model_begin,
          static_cast<size_t>(stagecraft_network_model_end - stagecraft_network_model_begin)};
}

std::span<const std::string_view> EmbeddedFileNames() { return kEmbeddedNames; }

}  // namespace stagecraft
