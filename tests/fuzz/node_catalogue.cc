// Reads catalogues of node types, and simulates steps on a cluster of two nodes of each type.
#include "sim/cluster/node_catalogue.h"

#include "sim/cluster/cluster.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    const NodeCatalogue catalogue = NodeCatalogue::Parse(text, name, extension);
    for (const NodeEntry& entry : catalogue.entries()) {
      const int nodes = entry.type.nics > 0 ? 2 : 1;
      if (entry.type.devices * nodes <= 32) {
        fuzz::SimulateCluster(Cluster("input", {{entry.type, nodes}}));
      }
    }
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
