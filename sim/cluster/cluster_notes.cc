#include "sim/cluster/cluster_notes.h"

#include <algorithm>
#include <filesystem>
#include <utility>

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
