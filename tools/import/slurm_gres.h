// GresTable: which GPUs Slurm's nodes have, from gres.conf or slurm.conf.
#pragma once

#include <map>
#include <string>

namespace stagecraft {

struct GresTable {
  struct Gres {
    std::string gpu;
    int count = 0;      // 0: not stated
    std::string place;  // how errors about it begin: "gres.conf: line 3: "; empty: no line
  };
  std::map<std::string, Gres> by_node;
  Gres everywhere;  // of lines that name no node

  // Returns what a node has. Lines that name it take precedence over those that name none.
  Gres Of(const std::string& node) const;
};

// Counts of lines about the same nodes add up; NodeName=DEFAULT applies to the nodes that follow
// it. Throws an InputError that begins with `name` for malformed lines, counts and host lists, for
// nodes with several GPU types, and for more than kMaxDevicesPerNode GPUs on a node.
GresTable ParseGres(const std::string& text, const std::string& name);

}  // namespace stagecraft
