#include "tools/import/slurm_topology.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "tools/import/hostlist.h"
#include "tools/import/import_text.h"
#include "tools/import/placed_nodes.h"
#include "tools/import/slurm_lines.h"
#include "tools/import/slurm_tree.h"

namespace stagecraft {
namespace {

constexpr int kMostGpus = 1024;

struct Gres {
  std::string gpu;
  int count = 0;  // 0: not said
  std::string place;
};
struct GresTable {
  std::map<std::string, Gres> by_node;
  std::optional<Gres> everywhere;  // a line that names no node
};

std::string Value(const SlurmLine& line, const std::string& key) {
  const auto found = line.keys.find(key);
  return found == line.keys.end() ? "" : found->second;
}

// gres.conf: Name=gpu Type=h100 File=/dev/nvidia[0-7] or Count=8.
std::optional<Gres> FromGresConf(const SlurmLine& line) {
  if (Value(line, "name") != "gpu") return std::nullopt;
  Gres gres = {Value(line, "type"), 0, line.place};
  if (const std::string count = Value(line, "count"); !count.empty()) {
    gres.count = static_cast<int>(ParseWhole(count, 1, kMostGpus, line.place + "Count"));
  } else if (const std::string file = Value(line, "file"); !file.empty()) {
    gres.count = static_cast<int>(ExpandHostlist(file, line.place + "File").size());
  }
  return gres;
}

// slurm.conf: Gres=gpu:h100:8(S:0-1),fs:lustre:1.
std::optional<Gres> FromSlurmConf(const SlurmLine& line) {
  for (const std::string_view part : SplitAt(line.keys.at("gres"), ',')) {
    const std::vector<std::string_view> fields = SplitAt(part.substr(0, part.find('(')), ':');
    if (fields[0] != "gpu" || fields.size() < 2) continue;
    Gres gres = {"", 0, line.place};
    if (fields.size() > 2) gres.gpu = fields[1];
    gres.count = static_cast<int>(ParseWhole(fields.back(), 1, kMostGpus, line.place + "Gres gpu"));
    return gres;
  }
  return std::nullopt;
}

GresTable ParseGres(const SlurmText& source) {
  GresTable table;
  for (const SlurmLine& line : ParseSlurmLines(source.text, source.name)) {
    const std::optional<Gres> gres =
        line.keys.contains("gres") ? FromSlurmConf(line) : FromGresConf(line);
    if (!gres) continue;
    const std::string nodes = Value(line, "nodename");
    if (nodes.empty()) {
      table.everywhere = gres;
      continue;
    }
    for (const std::string& node : ExpandHostlist(nodes, line.place + "NodeName")) {
      const auto [held, is_new] = table.by_node.emplace(node, *gres);
      if (is_new) continue;
      // One line for each device or type is usual: counts add up.
      if (held->second.gpu != gres->gpu) {
        throw InputError(line.place + "got GPU " + Quoted(gres->gpu) + " beside " +
                         Quoted(held->second.gpu) + " on " + Quoted(node) +
                         ", want one kind a node");
      }
      held->second.count = std::min(held->second.count + gres->count, kMostGpus);
    }
  }
  return table;
}

Gres GresOf(const std::string& node, const GresTable& table) {
  const auto found = table.by_node.find(node);
  if (found != table.by_node.end()) return found->second;
  return table.everywhere.value_or(Gres());
}

}  // namespace

ImportedCluster ImportSlurmTopology(const SlurmText& topology, const SlurmText& gres,
                                    const ImportOptions& options) {
  const bool is_yaml = topology.name.ends_with(".yaml") || topology.name.ends_with(".yml");
  const std::vector<SlurmSwitch> switches =
      is_yaml ? ParseSlurmYaml(topology.text, topology.name, options.topology)
              : ParseSlurmConf(topology.text, topology.name);
  const GresTable table = ParseGres(gres);
  ImportedCluster result;
  std::vector<PlacedNode> nodes;
  std::map<std::pair<std::string, int>, NodeGroupProto> types;  // of equal nodes, found once
  for (const SlurmLeafNode& leaf : WalkSlurmTree(switches, topology.name)) {
    const Gres has = GresOf(leaf.node, table);
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
