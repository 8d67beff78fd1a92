// GresTable: which GPUs Slurm's nodes have, from gres.conf or slurm.conf.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace stagecraft {

struct GresTable {
  struct Gres {
    std::string gpu;
    int count = 0;      // 0: not said
    std::string place;  // opens sentences about it: "gres.conf: line 3: "
  };
  std::map<std::string, Gres> by_node;
  std::optional<Gres> everywhere;  // a line that names no node

  // What a node has; empty where nothing says it.
  Gres Of(const std::string& node) const;
};

// Throws InputError that opens with `name` for malformed lines, counts and lists
// of hosts, and for nodes with several kinds of GPU.
GresTable ParseGres(const std::string& text, const std::string& name);

}  // namespace stagecraft
