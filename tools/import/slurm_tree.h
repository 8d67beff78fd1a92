// SlurmSwitch: one switch or block of a Slurm topology, and the tree of them.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

struct SlurmSwitch {
  std::string name;
  std::string place;                  // opens sentences about it: "topology.conf: line 3: "
  std::vector<std::string> nodes;     // of a leaf
  std::vector<std::string> children;  // of a switch above
};

struct SlurmLeafNode {
  std::string node;
  std::string leaf;
  std::string pod;  // the switch above the leaf; empty: none
};

// The nodes leaf by leaf, depth first from the root in the order of the lists. Throws InputError if
// the switches make no tree.
std::vector<SlurmLeafNode> WalkSlurmTree(const std::vector<SlurmSwitch>& switches,
                                         const std::string& name);

// Adds a switch above several blocks; `place` opens sentences about it.
void JoinBlocks(std::vector<std::string> blocks, const std::string& place,
                std::vector<SlurmSwitch>* switches);

// The readers of the two formats; blocks become leaves below one switch. Every switch has nodes or
// children.
std::vector<SlurmSwitch> ParseSlurmConf(const std::string& text, const std::string& name);
std::vector<SlurmSwitch> ParseSlurmYaml(const std::string& text, const std::string& name,
                                        const std::string& topology);

}  // namespace stagecraft
