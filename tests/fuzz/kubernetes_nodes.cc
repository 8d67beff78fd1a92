// Reads Kubernetes' lists of nodes, and simulates steps on the clusters that they describe.
#include "tools/import/kubernetes_nodes.h"

#include "tests/fuzz/imported_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto import = [&] { return ImportKubernetesNodes(text, "nodes.json", {}); };
  if (fuzz::AcceptsImport(import)) fuzz::CountAccepted();
  return 0;
}
