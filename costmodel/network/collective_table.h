// Reads and writes the shared table of measured collectives (data/network in the shared data; its
// README says what the columns mean).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/link.h"
#include "costmodel/network/network_sample.h"
#include "costmodel/op.h"

namespace stagecraft {

struct CollectiveTable {
  std::vector<NetworkSample> samples;  // rows with valid = 1, in order
  int64_t invalid = 0;                 // rows that the table itself says are no measurements
  // Rows that cannot be used, by GPU type and reason.
  std::map<std::pair<std::string, std::string>, int> skipped;
};

// A group of ranks on nodes of one type: on each of `nodes` nodes the first `ranks_per_node`
// devices at a distance of `stride`.
struct GroupOnNodes {
  std::string node;  // id of a node type
  OpKind kind = OpKind::kAllReduce;
  int nodes = 1;
  int ranks_per_node = 1;
  int stride = 1;
};

// Returns the fabric of such a group; no value if the node type is not known or has fewer devices.
using FabricOfNodes = std::function<std::optional<Fabric>(const GroupOnNodes&)>;

// The source in tables that `import` makes of logs. The system of their rows is the cluster as it
// is written after --cluster, and their site is the system alone.
inline constexpr std::string_view kNcclTestsSource = "nccl-tests";

// Reads the bytes of a file, gzipped or not. `of_nodes`, if given, returns the links of GPUs for
// which neither the column `fabric` nor measured_fabric.h has any; a row whose links remain unknown
// is skipped. Throws InputError: "collectives.csv:3: op: got "sum", want all_reduce, all_gather,
// ...".
CollectiveTable ParseCollectiveTable(std::string_view bytes, const std::string& path,
                                     const FabricOfNodes& of_nodes = {});

// Whether these bytes, gzipped or not, are the beginning of such a table.
bool IsCollectiveTable(std::string_view bytes);

// Returns a table of the same columns. Fabrics are written out (fabric_words.h), and the number of
// nodes is Fabric::nodes, which counts scale-up domains. Samples of one rank get valid = 0. Reading
// the table gives the same samples, except for their site. Throws an InputError that names `path`
// for a group whose nodes have unequal numbers of ranks, for which there is no column.
std::string FormatCollectiveTable(std::span<const NetworkSample> samples, const std::string& path);

}  // namespace stagecraft
