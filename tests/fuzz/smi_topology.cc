// The matrix that nvidia-smi topo -m prints; the cluster that it describes is simulated.
#include "tools/import/smi_topology.h"

#include "sim/cluster_proto.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  ImportOptions options;
  options.gpu = "h100-sxm";
  const auto read = [&] {
    const ImportedCluster imported = ImportSmiTopology(text, "topo.txt", options);
    fuzz::SimulateCluster(ClusterFromProto(imported.cluster, "imported"));
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
