// NodeCatalogue: the node types that have names, by id.
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

// Immutable; may be used from any thread.
class NodeCatalogue {
 public:
  // The catalogue in the binary, read at the first call.
  static const NodeCatalogue& Embedded();
  // Reads a NodeCatalogueProto in any format; `name` and `extension` are those of ParseProtoText().
  // Throws InputError, also for an id that occurs twice.
  static NodeCatalogue Parse(const std::string& text, const std::string& name,
                             const std::string& extension);

  // Finds an entry by its exact id; nullptr if there is none.
  const NodeEntry* Find(std::string_view id) const;
  // The same, but throws InputError with the nearest ids for an unknown id. The message begins with
  // `place`.
  const NodeEntry& Get(const std::string& id, const std::string& place) const;

  std::span<const NodeEntry> entries() const { return entries_; }

 private:
  std::vector<NodeEntry> entries_;
};

// Returns the node type that "GPU:NxG" stands for, with `devices_per_node` of its devices in use,
// or all if that is zero. If the catalogue has no node type with the GPU type, a usual one is
// assumed. Throws InputError for an unknown GPU type and for more devices than the node has.
NodeType ReferenceNode(const std::string& gpu, int devices_per_node, const std::string& place);

// Returns a sentence that says which node is assumed for a GPU type; empty if the catalogue has a
// node type with it, or no GPU type of this name.
std::string NoteOnReferenceNode(const std::string& gpu);

// Returns `type` with this number of devices in use, or all if it is zero; throws InputError for
// negative numbers and for more devices than the node has.
NodeType UseDevicesChecked(const NodeType& type, int devices_per_node, const std::string& place);

}  // namespace stagecraft
