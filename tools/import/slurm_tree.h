// SlurmSwitch: one switch or block of a Slurm topology, and the tree that they make.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

struct SlurmSwitch {
  std::string name;
  std::string place;                  // how errors about it begin: "topology.conf: line 3: "
  std::vector<std::string> nodes;     // if it is a leaf
  std::vector<std::string> children;  // else: the switches below it
};

struct SlurmLeafNode {
  std::string node;
  std::string leaf;
  std::string pod;  // the switch above the leaf; empty: none
};

// Returns the nodes leaf by leaf, depth first from the root, in the order of the lists. Throws
// InputError if the switches make no tree.
std::vector<SlurmLeafNode> WalkSlurmTree(const std::vector<SlurmSwitch>& switches,
                                         const std::string& name);

// Adds a switch above the blocks if there are several; errors about it begin with `place`.
void JoinBlocks(std::vector<std::string> blocks, const std::string& place,
                std::vector<SlurmSwitch>* switches);

// These read topology.conf and topology.yaml; blocks become leaves below one switch. Every switch
// has either nodes or children. `topology` is the one to be read of a file with several; empty: its
// default.
std::vector<SlurmSwitch> ParseSlurmConf(const std::string& text, const std::string& name);
std::vector<SlurmSwitch> ParseSlurmYaml(const std::string& text, const std::string& name,
                                        const std::string& topology);

}  // namespace stagecraft
