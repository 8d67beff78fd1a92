// Kubernetes' list of nodes; the cluster that it describes is simulated.
#include "tools/import/kubernetes_nodes.h"

#include "sim/cluster_proto.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&] {
    const ImportedCluster imported = ImportKubernetesNodes(text, "nodes.json", {});
    fuzz::SimulateCluster(ClusterFromProto(imported.cluster, "imported"));
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
