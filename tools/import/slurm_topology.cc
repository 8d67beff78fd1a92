#include "tools/import/slurm_topology.h"

#include <map>
#include <utility>

#include "costmodel/check.h"
#include "tools/import/import_text.h"
#include "tools/import/placed_nodes.h"
#include "tools/import/slurm_gres.h"
#include "tools/import/slurm_tree.h"

namespace stagecraft {

ImportedCluster ImportSlurmTopology(const SlurmText& topology, const SlurmText& gres,
                                    const ImportOptions& options) {
  const bool is_yaml = topology.name.ends_with(".yaml") || topology.name.ends_with(".yml");
  if (!is_yaml && !options.topology.empty()) {
    throw InputError("--topology: got " + Quoted(options.topology) + " for " + topology.name +
                     ", want none, as only a .yaml file has several");
  }
  const std::vector<SlurmSwitch> switches =
      is_yaml ? ParseSlurmYaml(topology.text, topology.name, options.topology)
              : ParseSlurmConf(topology.text, topology.name);
  const GresTable table = ParseGres(gres.text, gres.name);
  ImportedCluster result;
  std::vector<PlacedNode> nodes;
  std::map<std::pair<std::string, int>, NodeGroupProto> types;  // by GPU and count
  for (const SlurmLeafNode& leaf : WalkSlurmTree(switches, topology.name)) {
    const GresTable::Gres has = table.Of(leaf.node);
    const std::pair<std::string, int> key = {has.gpu, has.count};
    if (!types.contains(key)) {
      const std::string place =
          (has.place.empty() ? topology.name + ": " : has.place) + "node " + Quoted(leaf.node);
      types[key] = NodeOf(has.gpu, has.count, options, place);
    }
    nodes.push_back({types[key], leaf.leaf, leaf.pod});
  }
  if (nodes.empty()) throw InputError(topology.name + ": got no nodes, want at least one");
  AddPlacedNodes(nodes, options, &result);
  return result;
}

}  // namespace stagecraft
