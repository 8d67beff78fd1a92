// NsysRanges: makes operators, collectives and marked ranges of a process of the texts of NVTX.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/recorded/nvtx_text.h"
#include "tools/recorded/recording.h"

namespace stagecraft {

class NsysRanges {
 public:
  // Adds a range to the recording's slices, with the product or the attention that its text tells,
  // in a provisional number format (Recording::has_types). `payload` is JSON, or empty.
  void Take(const RecordedSlice& range, std::string_view text, std::string_view payload,
            Recording& recording);
  // Adds the collectives of all ranges that were taken, numbered by communicator in the order of
  // their calls. A kernel that ncclGroupEnd launches is that of the only call of its group; of
  // several calls nothing tells which is which.
  void Finish(Recording& recording);

 private:
  struct Call {
    int64_t start_ns = 0, thread = 0;
    int32_t slice = -1;
    NcclCall of;
  };
  struct GroupEdge {
    int64_t start_ns = 0;
    bool is_end = false;
    int32_t slice = -1;
  };

  void AddCollectives(Recording& recording);
  void AddGroups(Recording& recording) const;

  std::vector<Call> calls_;                                // that exchange data
  std::map<std::string, int> sizes_;                       // of communicators
  std::map<int64_t, std::vector<GroupEdge>> group_edges_;  // by thread
};

}  // namespace stagecraft
