#include "tools/import/slurm_tree.h"

#include <map>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

constexpr int kMostTiers = 8;

class Walk {
 public:
  Walk(const std::vector<SlurmSwitch>& switches, const std::string& name)
      : switches_(switches), name_(name) {
    for (size_t i = 0; i < switches.size(); ++i) {
      if (!by_name_.emplace(switches[i].name, i).second) {
        throw InputError(switches[i].place + "got switch " + Quoted(switches[i].name) +
                         " again, want each once");
      }
    }
  }

  std::vector<SlurmLeafNode> Run() {
    if (switches_.empty()) throw InputError(name_ + ": got no switches, want at least one");
    const size_t root = FindRoot();
    Visit(root, 0, "");
    for (size_t i = 0; i < switches_.size(); ++i) {
      if (visited_.contains(i)) continue;
      throw InputError(switches_[i].place + "got switch " + Quoted(switches_[i].name) +
                       " in a cycle, want a tree");
    }
    return std::move(nodes_);
  }

 private:
  size_t FindRoot() const {
    std::set<size_t> below;
    for (const SlurmSwitch& parent : switches_) {
      for (const std::string& child : parent.children) {
        const auto found = by_name_.find(child);
        if (found == by_name_.end()) {
          throw InputError(parent.place + "got switch " + Quoted(child) + " below " +
                           Quoted(parent.name) + ", want one of the file");
        }
        if (child == parent.name) {
          throw InputError(parent.place + "got switch " + Quoted(child) +
                           " below itself, want another");
        }
        if (!below.insert(found->second).second) {
          throw InputError(parent.place + "got switch " + Quoted(child) +
                           " below two others, want a tree");
        }
      }
    }
    std::vector<size_t> roots;
    for (size_t i = 0; i < switches_.size(); ++i) {
      if (!below.contains(i)) roots.push_back(i);
    }
    if (roots.empty()) {
      throw InputError(switches_[0].place + "got switch " + Quoted(switches_[0].name) +
                       " in a cycle, want a tree");
    }
    if (roots.size() > 1) {
      throw InputError(switches_[roots[1]].place + "got no switch above both " +
                       Quoted(switches_[roots[0]].name) + " and " +
                       Quoted(switches_[roots[1]].name) + ", want one tree");
    }
    return roots[0];
  }

  void Visit(size_t at, int depth, const std::string& above) {
    const SlurmSwitch& here = switches_[at];
    visited_.insert(at);
    if (depth > kMostTiers) {
      throw InputError(here.place + "got more than " + std::to_string(kMostTiers) +
                       " tiers of switches, want fewer");
    }
    for (const std::string& node : here.nodes) {
      if (!seen_.insert(node).second) {
        throw InputError(here.place + "got node " + Quoted(node) +
                         " again, want it below one switch");
      }
      nodes_.push_back({node, here.name, above});
    }
    for (const std::string& child : here.children) Visit(by_name_.at(child), depth + 1, here.name);
  }

  const std::vector<SlurmSwitch>& switches_;
  const std::string& name_;
  std::map<std::string, size_t> by_name_;
  std::set<size_t> visited_;
  std::set<std::string> seen_;
  std::vector<SlurmLeafNode> nodes_;
};

}  // namespace

std::vector<SlurmLeafNode> WalkSlurmTree(const std::vector<SlurmSwitch>& switches,
                                         const std::string& name) {
  return Walk(switches, name).Run();
}

void JoinBlocks(std::vector<std::string> blocks, const std::string& place,
                std::vector<SlurmSwitch>* switches) {
  if (blocks.size() > 1) switches->push_back({"blocks", place, {}, std::move(blocks)});
}

}  // namespace stagecraft
