// SmiMatrix: the cells of `nvidia-smi topo -m`, checked.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// How two devices are joined, the nearest first.
enum class SmiPath { kSelf, kNvlink, kSameSwitch, kSameRoot, kOtherRoot };

struct SmiMatrix {
  struct Cell {
    SmiPath path = SmiPath::kSelf;
    int nvlinks = 0;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  int gpus = 0;                          // have the first rows and columns
  int nics = 0;                          // have the others
  std::vector<std::vector<Cell>> cells;  // symmetric
  std::vector<std::string> numa;         // by GPU: its NUMA node, "0", or "N/A"; empty: no column
};

// Throws an InputError that begins with `name`, as ImportSmiTopology() does.
SmiMatrix ParseSmiMatrix(const std::string& text, const std::string& name);

}  // namespace stagecraft
