// NcclTestsLog: what nccl-tests printed, one collective over one group, size by size.
//
// Both layouts of columns are read, recognised by the words of the header line: the current one
// with `root` and `#wrong`, the older one with `error`. So are the tags that mpirun --tag-output
// puts before every line ("[1,0]<stdout>:"), lines that NCCL itself prints in between, and the JSON
// of `-J`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

struct NcclTestsLog {
  struct Rank {
    std::string host;
    std::string gpu;  // as NCCL names it: "A100-SXM4-40GB"
  };
  struct Row {
    Bytes bytes;
    Duration time;  // out of place
  };

  OpKind kind = OpKind::kAllReduce;
  std::vector<Rank> ranks;        // by rank; at least one
  std::vector<Row> rows;          // with ascending bytes, all > 0; at least one
  std::string dtype;              // "fp32", or as printed; empty if none is printed
  std::string software = "nccl";  // "nccl-2.21.5" if the version is printed

  // Returns the number of ranks of each host, in the order of the hosts' first ranks.
  std::vector<int> RanksByHost() const;
};

// The collective is `kind` if it is given; else the one in the name of the program (JSON) or of the
// file ("all_reduce_perf.txt"); else, among those that sum up without a root, the one to which the
// printed bandwidths belong. Two collectives in one name are refused. Times must agree with the
// bandwidths printed beside them. Throws InputError: "ar.log:17: time: got "abc", want microseconds
// > 0".
NcclTestsLog ParseNcclTestsLog(std::string_view text, const std::string& path,
                               std::optional<OpKind> kind = std::nullopt);

// Whether `text` is the beginning of such a log.
bool IsNcclTestsLog(std::string_view text);

}  // namespace stagecraft
