#include "tools/import/slurm_gres.h"

#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/cluster/node_type.h"
#include "tools/import/hostlist.h"
#include "tools/import/import_text.h"
#include "tools/import/slurm_lines.h"

namespace stagecraft {
namespace {

using Gres = GresTable::Gres;

// Adds what a line, or a part of one, says to what earlier ones said about the same nodes; counts
// add up, since there is often a line for each device. `where` says in errors which nodes they are.
void Add(const Gres& more, const std::string& where, Gres* held) {
  if (held->place.empty()) {
    *held = more;
  } else if (held->gpu != more.gpu) {
    throw InputError(more.place + "got GPU " + Quoted(more.gpu) + " and " + Quoted(held->gpu) +
                     " " + where + ", want one GPU type per node");
  } else {
    held->count += more.count;
  }
  if (held->count > kMaxDevicesPerNode) {
    throw InputError(more.place + "got " + std::to_string(held->count) + " GPUs " + where +
                     ", want " + std::to_string(kMaxDevicesPerNode) + " at most");
  }
}

// Reads a line of gres.conf: "Name=gpu Type=h100 File=/dev/nvidia[0-7]", or with "Count=8".
Gres FromGresConf(const SlurmLine& line) {
  if (line.Value("name") != "gpu") return {};
  Gres gres = {line.Value("type"), 0, line.place};
  if (const std::string count = line.Value("count"); !count.empty()) {
    gres.count = static_cast<int>(ParseWhole(count, 1, kMaxDevicesPerNode, line.place + "Count"));
  } else if (const std::string file = line.Value("file"); !file.empty()) {
    gres.count = static_cast<int>(ExpandHostlist(file, line.place + "File").size());
  }
  return gres;
}

// Reads the value of Gres in slurm.conf: "gpu:h100:8(S:0-1),fs:lustre:1"; "gpu" alone is one GPU.
Gres FromSlurmConf(const std::string& list, const std::string& place) {
  Gres all;
  for (const std::string_view part : SplitAt(list, ',')) {
    const std::vector<std::string_view> fields = SplitAt(part.substr(0, part.find('(')), ':');
    if (fields[0] != "gpu") continue;
    Gres gres = {"", 1, place};
    if (fields.size() > 2) gres.gpu = fields[1];
    if (fields.size() > 1) {
      gres.count =
          static_cast<int>(ParseWhole(fields.back(), 1, kMaxDevicesPerNode, place + "Gres gpu"));
    }
    Add(gres, "in Gres", &all);
  }
  return all;
}

}  // namespace

GresTable::Gres GresTable::Of(const std::string& node) const {
  const auto found = by_node.find(node);
  return found != by_node.end() ? found->second : everywhere;
}

GresTable ParseGres(const std::string& text, const std::string& name) {
  GresTable table;
  std::string usual;  // the Gres of NodeName=DEFAULT, for lines of nodes without one
  for (const SlurmLine& line : ParseSlurmLines(text, name)) {
    const std::string nodes = line.Value("nodename");
    const bool has_gres = line.keys.contains("gres");
    if (LowerCase(nodes) == "default") {
      if (has_gres) usual = line.Value("gres");
      continue;
    }
    const bool is_usual = !has_gres && !nodes.empty() && !line.keys.contains("name");
    const Gres gres = has_gres || is_usual
                          ? FromSlurmConf(has_gres ? line.Value("gres") : usual, line.place)
                          : FromGresConf(line);
    if (gres.place.empty()) continue;
    if (nodes.empty()) {
      Add(gres, "on all nodes", &table.everywhere);
      continue;
    }
    for (const std::string& node : ExpandHostlist(nodes, line.place + "NodeName")) {
      Add(gres, "on " + Quoted(node), &table.by_node[node]);
    }
  }
  return table;
}

}  // namespace stagecraft
