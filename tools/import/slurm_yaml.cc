#include <nlohmann/json.hpp>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/nearest.h"
#include "tools/import/hostlist.h"
#include "tools/import/import_text.h"
#include "tools/import/slurm_tree.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

const Json& Member(const Json& object, const char* key, const std::string& place) {
  if (!object.is_object() || !object.contains(key)) {
    throw InputError(place + ": got no " + key + ", want it");
  }
  return object[key];
}

const Json& ListMember(const Json& object, const char* key, const std::string& place) {
  const Json& list = Member(object, key, place);
  if (!list.is_array() || list.empty()) {
    throw InputError(place + "." + key + ": got no list, want one with entries");
  }
  return list;
}

std::string TextMember(const Json& object, const char* key, const std::string& place) {
  const Json& text = Member(object, key, place);
  if (text.is_number_integer()) return text.dump();
  if (!text.is_string() || text.get_ref<const std::string&>().empty()) {
    throw InputError(place + "." + key + ": got no text, want a name");
  }
  return text.get<std::string>();
}

// The index of the wanted topology; if none is wanted, of the file's default, else of the first.
size_t Choose(const Json& all, const std::string& wanted, const std::string& name) {
  std::vector<std::string> known;
  size_t chosen = 0;
  bool has_default = false;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string place = name + ": [" + std::to_string(i) + "]";
    known.push_back(TextMember(all[i], "topology", place));
    if (!wanted.empty() && known.back() == wanted) return i;
    const bool is_default =
        all[i].contains("cluster_default") && all[i]["cluster_default"] == Json(true);
    if (is_default && !has_default) chosen = i;
    has_default = has_default || is_default;
  }
  if (wanted.empty()) return chosen;
  throw InputError("--topology: unknown topology \"" + wanted + "\" in " + name + "; " +
                   NearestNames(wanted, known));
}

std::vector<SlurmSwitch> ReadTree(const Json& tree, const std::string& place) {
  std::vector<SlurmSwitch> switches;
  const Json& list = ListMember(tree, "switches", place);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string at = place + ".switches[" + std::to_string(i) + "]";
    SlurmSwitch parsed = {TextMember(list[i], "switch", at), at + ": ", {}, {}};
    const bool has_nodes = list[i].contains("nodes");
    if (has_nodes == list[i].contains("children")) {
      throw InputError(at + ": got " + (has_nodes ? "both" : "neither") +
                       " of nodes and children, want one");
    }
    if (has_nodes) {
      parsed.nodes = ExpandHostlist(TextMember(list[i], "nodes", at), at + ".nodes");
    } else {
      parsed.children = ExpandHostlist(TextMember(list[i], "children", at), at + ".children");
    }
    switches.push_back(std::move(parsed));
  }
  return switches;
}

std::vector<SlurmSwitch> ReadBlocks(const Json& block, const std::string& place) {
  std::vector<SlurmSwitch> switches;
  std::vector<std::string> names;
  const Json& list = ListMember(block, "blocks", place);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string at = place + ".blocks[" + std::to_string(i) + "]";
    const std::string name = TextMember(list[i], "block", at);
    switches.push_back(
        {name, at + ": ", ExpandHostlist(TextMember(list[i], "nodes", at), at + ".nodes"), {}});
    names.push_back(name);
  }
  JoinBlocks(std::move(names), place + ": ", &switches);
  return switches;
}

}  // namespace

std::vector<SlurmSwitch> ParseSlurmYaml(const std::string& text, const std::string& name,
                                        const std::string& topology) {
  const Json all = ParseYaml(text, name);
  if (!all.is_array() || all.empty()) {
    throw InputError(name + ": got no list of topologies, want Slurm's topology.yaml");
  }
  const size_t chosen = Choose(all, topology, name);
  const std::string place = name + ": [" + std::to_string(chosen) + "]";
  if (all[chosen].contains("tree")) return ReadTree(all[chosen]["tree"], place + ".tree");
  if (all[chosen].contains("block")) return ReadBlocks(all[chosen]["block"], place + ".block");
  throw InputError(place + ": got neither tree nor block, want one of them");
}

}  // namespace stagecraft
