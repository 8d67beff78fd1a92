// Imports Slurm's topology.conf, topology.yaml and gres.conf.
#pragma once

#include <cstdint>
#include <string>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

inline constexpr int64_t kMostSlurmBytes = 16 << 20;

struct SlurmText {
  std::string text;
  std::string name;  // opens errors
};

// `topology` is topology.conf or what `scontrol show topology` prints, or, if its name ends in
// .yaml or .yml, topology.yaml. Switches with nodes become leaves, and so do blocks. `gres` (its
// text may be empty) is gres.conf or slurm.conf and says which GPUs a node has; Include is refused,
// since no other file is read. Throws InputError for unknown keys, switches given twice or unknown,
// with two parents, in a cycle or below themselves, nodes below two switches, switches that nothing
// joins, and nodes of unknown GPUs.
ImportedCluster ImportSlurmTopology(const SlurmText& topology, const SlurmText& gres,
                                    const ImportOptions& options);

}  // namespace stagecraft
