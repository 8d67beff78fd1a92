#include "sim/cluster/alike_nodes.h"

#include "sim/cluster/topology/interconnect_spec.h"

namespace stagecraft {

bool NodesAreAlike(const Cluster& cluster) {
  return !cluster.has_explicit_links() && IsSingleSwitch(cluster.interconnect()) &&
         cluster.slow_parts().empty() && cluster.shared_memories().empty();
}

}  // namespace stagecraft
