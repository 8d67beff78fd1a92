// The node types we know, by id.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/node_type.h"

namespace stagecraft {

struct NodeEntry {
  NodeType type;
  std::string name;  // for people: "NVIDIA DGX H100 / HGX H100"
  std::string provenance;
  std::vector<std::string> sources;
};

// Immutable; safe from any thread.
class NodeCatalogue {
 public:
  // The catalogue in the binary, read at the first call.
  static const NodeCatalogue& Embedded();
  // Reads a NodeCatalogueProto of any format; `name` and `extension` as in
  // ParseProtoText. Throws InputError, also for an id given twice.
  static NodeCatalogue Parse(const std::string& text, const std::string& name,
                             const std::string& extension);

  // By exact id; nullptr where there is none.
  const NodeEntry* Find(std::string_view id) const;
  // The same; an unknown id throws InputError with the nearest ids. `place`
  // opens the sentence.
  const NodeEntry& Get(const std::string& id, const std::string& place) const;

  std::span<const NodeEntry> entries() const { return entries_; }

 private:
  std::vector<NodeEntry> entries_;
};

// The node type that "GPU:NxG" stands for, with `devices_per_node` of its
// devices in use, or all where that is zero. Throws InputError for an unknown
// GPU, one without a reference node, and more devices than the node has.
NodeType ReferenceNode(const std::string& gpu, int devices_per_node, const std::string& place);

// `type` with so many devices in use, all where that is zero; throws InputError
// for less than zero and for more than it has.
NodeType UseDevicesChecked(const NodeType& type, int devices_per_node, const std::string& place);

}  // namespace stagecraft
