// SmiMatrix: the cells of `nvidia-smi topo -m`, checked.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// How two things are joined, nearest first.
enum class SmiPath { kSelf, kNvlink, kSameSwitch, kSameRoot, kOtherRoot };

struct SmiMatrix {
  struct Cell {
    SmiPath path = SmiPath::kSelf;
    int nvlinks = 0;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  int gpus = 0;                          // the first rows and columns
  int nics = 0;                          // the others
  std::vector<std::vector<Cell>> cells;  // symmetric
  std::vector<std::string> numa;         // by GPU: "0", "N/A"; empty: no such column
};

// Throws an InputError that opens with `name`, as ImportSmiTopology() does.
SmiMatrix ParseSmiMatrix(const std::string& text, const std::string& name);

}  // namespace stagecraft
