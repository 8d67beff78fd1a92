// What targets of importers share: the cluster that an importer describes is simulated.
#pragma once

#include "sim/cluster/cluster_proto.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"
#include "tools/import/imported_cluster.h"

namespace stagecraft::fuzz {

// Whether `import` accepts what it is about, and its ImportedCluster is one.
template <typename Import>
bool AcceptsImport(const Import& import) {
  return Accepts([&] { SimulateCluster(ClusterFromProto(import().cluster, "imported")); });
}

// Options for a matrix or a tree of devices that does not name them: they are of one kind.
inline ImportOptions OfOneKind() {
  ImportOptions options;
  options.gpu = "h100-sxm";
  return options;
}

}  // namespace stagecraft::fuzz
