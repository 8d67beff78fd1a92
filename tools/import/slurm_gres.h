// GresTable: which GPUs Slurm's nodes have, from gres.conf or slurm.conf.
#pragma once

#include <map>
#include <string>

namespace stagecraft {

struct GresTable {
  struct Gres {
    std::string gpu;
    int count = 0;      // 0: not said
    std::string place;  // opens sentences about it: "gres.conf: line 3: "; empty: no line
  };
  std::map<std::string, Gres> by_node;
  Gres everywhere;  // of lines that name no node

  // What a node has: its own lines go before those that name none.
  Gres Of(const std::string& node) const;
};

// Lines about the same nodes add up; NodeName=DEFAULT holds for the nodes behind it.
// Throws InputError that opens with `name` for malformed lines, counts and lists of
// hosts, for nodes with several kinds of GPU and for more than kMaxDevicesPerNode.
GresTable ParseGres(const std::string& text, const std::string& name);

}  // namespace stagecraft
