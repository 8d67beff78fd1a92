#include "data/embedded.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "data/embedded_files.h"

// The bytes that the targets cost_model, network_model, gpus, nodes and stacks of BUILD link in.
extern "C" {
extern const char stagecraft_cost_model_begin[];
extern const char stagecraft_cost_model_end[];
extern const char stagecraft_network_model_begin[];
extern const char stagecraft_network_model_end[];
extern const char stagecraft_gpus_begin[];
extern const char stagecraft_gpus_end[];
extern const char stagecraft_nodes_begin[];
extern const char stagecraft_nodes_end[];
extern const char stagecraft_stacks_begin[];
extern const char stagecraft_stacks_end[];
}

namespace stagecraft {
namespace {

std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

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
  return Between(stagecraft_cost_model_begin, stagecraft_cost_model_end);
}

std::string_view EmbeddedNetworkModel() {
  return Between(stagecraft_network_model_begin, stagecraft_network_model_end);
}

std::string_view EmbeddedGpus() { return Between(stagecraft_gpus_begin, stagecraft_gpus_end); }

std::string_view EmbeddedNodes() { return Between(stagecraft_nodes_begin, stagecraft_nodes_end); }

std::string_view EmbeddedStacks() {
  return Between(stagecraft_stacks_begin, stagecraft_stacks_end);
}

std::span<const std::string_view> EmbeddedFileNames() { return kEmbeddedNames; }

}  // namespace stagecraft
