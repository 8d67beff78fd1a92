#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "tools/import/hostlist.h"
#include "tools/import/import_text.h"
#include "tools/import/slurm_lines.h"
#include "tools/import/slurm_tree.h"

namespace stagecraft {
namespace {

void CheckKeys(const SlurmLine& line, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : line.keys) {
    bool is_known = false;
    for (const std::string_view name : known) is_known = is_known || name == key;
    if (!is_known) {
      throw InputError(line.place + "got key " + Quoted(key) +
                       ", want SwitchName, Switches, Nodes, LinkSpeed or BlockName, Nodes");
    }
    if (value.empty()) throw InputError(line.place + key + ": got no value, want one");
  }
}

SlurmSwitch SwitchOf(const SlurmLine& line) {
  // `scontrol show topology` adds Level, and all nodes below each switch.
  CheckKeys(line, {"switchname", "switches", "nodes", "linkspeed", "level"});
  SlurmSwitch parsed = {line.keys.at("switchname"), line.place, {}, {}};
  const std::string children = line.Value("switches");
  const std::string nodes = line.Value("nodes");
  if (!children.empty()) {
    if (!nodes.empty() && !line.keys.contains("level")) {
      throw InputError(line.place + "got both Nodes and Switches, want one");
    }
    parsed.children = ExpandHostlist(children, line.place + "Switches");
  } else if (!nodes.empty()) {
    parsed.nodes = ExpandHostlist(nodes, line.place + "Nodes");
  } else {
    throw InputError(line.place + "got neither Nodes nor Switches, want one");
  }
  return parsed;
}

}  // namespace

std::vector<SlurmSwitch> ParseSlurmConf(const std::string& text, const std::string& name) {
  std::vector<SlurmSwitch> switches;
  std::vector<std::string> blocks;
  for (const SlurmLine& line : ParseSlurmLines(text, name)) {
    if (line.first_key == "switchname") {
      switches.push_back(SwitchOf(line));
    } else if (line.first_key == "blockname") {
      CheckKeys(line, {"blockname", "nodes"});
      const std::string nodes = line.Value("nodes");
      if (nodes.empty())
        throw InputError(line.place + "got a block without Nodes, want at least one");
      const std::string block = line.keys.at("blockname");
      switches.push_back({block, line.place, ExpandHostlist(nodes, line.place + "Nodes"), {}});
      blocks.push_back(block);
    } else if (line.first_key != "blocksizes") {
      throw InputError(line.place + "got key " + Quoted(line.first_key) +
                       " first, want SwitchName, BlockName or BlockSizes");
    }
  }
  JoinBlocks(std::move(blocks), name + ": ", &switches);
  return switches;
}

}  // namespace stagecraft
