#include "sim/cluster/cluster_notes.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "costmodel/device.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/proto_file.h"

namespace stagecraft {

std::vector<std::string> ClusterNotes(const ClusterProto& proto, const std::string& file) {
  std::vector<std::string> notes;
  for (const NodeGroupProto& group : proto.node_groups()) {
    if (!group.inline_node_type().has_inline_device()) continue;
    const Device device = DeviceFromProto(group.inline_node_type().inline_device(), file);
    const bool is_given = group.inline_node_type().inline_device().training_clock() != 0;
    if (is_given || device.training_clock == 1) continue;
    std::string note = fmt::format(
        "{}: {} has no training_clock: its clock in hours of training is assumed to be {} of its "
        "boost clock, as of V100, A100 and H100",
        file, device.id, device.training_clock);
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
      notes.push_back(std::move(note));
    }
  }
  return notes;
}

std::vector<std::string> ClusterNotes(const std::string& spec) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(spec, error)) return {};
  ClusterProto proto;
  ReadProtoFile(spec, &proto);
  return ClusterNotes(proto, spec);
}

}  // namespace stagecraft
