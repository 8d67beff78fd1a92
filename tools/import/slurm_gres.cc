#include "tools/import/slurm_gres.h"

#include <algorithm>
#include <string_view>

#include "costmodel/check.h"
#include "tools/import/hostlist.h"
#include "tools/import/import_text.h"
#include "tools/import/slurm_lines.h"

namespace stagecraft {
namespace {

constexpr int kMostGpus = 1024;

using Gres = GresTable::Gres;

std::string Value(const SlurmLine& line, const std::string& key) {
  const auto found = line.keys.find(key);
  return found == line.keys.end() ? "" : found->second;
}

// gres.conf: Name=gpu Type=h100 File=/dev/nvidia[0-7] or Count=8.
std::optional<Gres> FromGresConf(const SlurmLine& line) {
  if (Value(line, "name") != "gpu") return std::nullopt;
  Gres gres = {Value(line, "type"), 0, line.place};
  if (const std::string count = Value(line, "count"); !count.empty()) {
    gres.count = static_cast<int>(ParseWhole(count, 1, kMostGpus, line.place + "Count"));
  } else if (const std::string file = Value(line, "file"); !file.empty()) {
    gres.count = static_cast<int>(ExpandHostlist(file, line.place + "File").size());
  }
  return gres;
}

// slurm.conf: Gres=gpu:h100:8(S:0-1),fs:lustre:1.
std::optional<Gres> FromSlurmConf(const SlurmLine& line) {
  for (const std::string_view part : SplitAt(line.keys.at("gres"), ',')) {
    const std::vector<std::string_view> fields = SplitAt(part.substr(0, part.find('(')), ':');
    if (fields[0] != "gpu" || fields.size() < 2) continue;
    Gres gres = {"", 0, line.place};
    if (fields.size() > 2) gres.gpu = fields[1];
    gres.count = static_cast<int>(ParseWhole(fields.back(), 1, kMostGpus, line.place + "Gres gpu"));
    return gres;
  }
  return std::nullopt;
}

}  // namespace

GresTable::Gres GresTable::Of(const std::string& node) const {
  const auto found = by_node.find(node);
  return found != by_node.end() ? found->second : everywhere.value_or(Gres());
}

GresTable ParseGres(const std::string& text, const std::string& name) {
  GresTable table;
  for (const SlurmLine& line : ParseSlurmLines(text, name)) {
    const std::optional<Gres> gres =
        line.keys.contains("gres") ? FromSlurmConf(line) : FromGresConf(line);
    if (!gres) continue;
    const std::string nodes = Value(line, "nodename");
    if (nodes.empty()) {
      table.everywhere = gres;
      continue;
    }
    for (const std::string& node : ExpandHostlist(nodes, line.place + "NodeName")) {
      const auto [held, is_new] = table.by_node.emplace(node, *gres);
      if (is_new) continue;
      // One line for each device or type is usual: counts add up.
      if (held->second.gpu != gres->gpu) {
        throw InputError(line.place + "got GPU " + Quoted(gres->gpu) + " beside " +
                         Quoted(held->second.gpu) + " on " + Quoted(node) +
                         ", want one kind a node");
      }
      held->second.count = std::min(held->second.count + gres->count, kMostGpus);
    }
  }
  return table;
}

}  // namespace stagecraft
