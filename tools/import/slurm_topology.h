// Imports Slurm's topology.conf, topology.yaml and gres.conf.
#pragma once

#include <cstdint>
#include <string>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

inline constexpr int64_t kMostSlurmBytes = 16 << 20;

struct SlurmText {
  std::string text;
  std::string name;  // the file's, with which errors begin
};

// `topology` is topology.conf or what `scontrol show topology` prints or, if its name ends in .yaml
// or .yml, topology.yaml. Switches with nodes become leaf switches, and so do blocks. `gres` is
// gres.conf or slurm.conf, which says which GPUs a node has; its text may be empty. Include is
// refused, since no other file is read. Throws InputError for unknown keys; for switches that are
// given twice, unknown, below two others, in a cycle, below themselves, or not in one tree with the
// others; for nodes below two switches; and for nodes of unknown GPUs.
ImportedCluster ImportSlurmTopology(const SlurmText& topology, const SlurmText& gres,
                                    const ImportOptions& options);

}  // namespace stagecraft
