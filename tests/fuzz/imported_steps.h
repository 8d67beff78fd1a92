// What the targets of importers share: steps are simulated on the cluster that an importer
// describes.
#pragma once

#include "sim/cluster/cluster_proto.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"
#include "tools/import/imported_cluster.h"

namespace stagecraft::fuzz {

// Whether `import` accepts its input; if it does, simulates steps on its ImportedCluster.
template <typename Import>
bool AcceptsImport(const Import& import) {
  return Accepts([&] { SimulateCluster(ClusterFromProto(import().cluster, "imported")); });
}

// Returns options for a matrix or a tree of devices without names: all are of one GPU type.
inline ImportOptions OfOneKind() {
  ImportOptions options;
  options.gpu = "h100-sxm";
  return options;
}

}  // namespace stagecraft::fuzz
