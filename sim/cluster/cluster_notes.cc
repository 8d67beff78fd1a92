#include "sim/cluster/cluster_notes.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "costmodel/device.h"
#include "costmodel/gpu_datasheet.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "sim/cluster/node_catalogue.h"

namespace stagecraft {

std::vector<std::string> ClusterNotes(const ClusterProto& proto, const std::string& file) {
  std::vector<std::string> notes;
  const auto add = [&](const std::string& note) {
    if (note.empty()) return;
    std::string whole = file + ": " + note;
    if (std::find(notes.begin(), notes.end(), whole) == notes.end()) {
      notes.push_back(std::move(whole));
    }
  };
  for (const NodeGroupProto& group : proto.node_groups()) {
    if (!group.device().empty()) add(NoteOnReferenceNode(group.device()));
    const NodeTypeProto& type = group.inline_node_type();
    std::string id;
    Generation generation = Generation::kHopper;
    if (type.has_datasheet() && type.datasheet().training_clock() == 0) {
      id = type.datasheet().id();
      generation = DeviceFromDatasheet(type.datasheet(), file).generation;
    } else if (type.has_inline_device() && type.inline_device().training_clock() == 0) {
      id = type.inline_device().id();
      generation = DeviceFromProto(type.inline_device(), file).generation;
    }
    if (id.empty() || UsualTrainingClock(generation) == 1) continue;
    add(fmt::format(
        "{} has no training_clock: its clock in hours of training is assumed to be {} of its "
        "boost clock, as of V100, A100 and H100",
        id, UsualTrainingClock(generation)));
  }
  return notes;
}

std::vector<std::string> ClusterNotes(const std::string& spec) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(spec, error)) {
    std::vector<std::string> notes;
    for (const std::string_view part : SplitAt(spec, '+')) {
      std::string note = NoteOnReferenceNode(std::string(part.substr(0, part.rfind(':'))));
      if (!note.empty()) notes.push_back(std::move(note));
    }
    return notes;
  }
  ClusterProto proto;
  ReadProtoFile(spec, &proto);
  return ClusterNotes(proto, spec);
}

}  // namespace stagecraft
