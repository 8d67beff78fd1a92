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

// The fabric that such a group sees; no value if the node type is not known, or has fewer devices.
using FabricOfNodes = std::function<std::optional<Fabric>(const GroupOnNodes&)>;

// The source of the tables that `import` makes of logs: the system of their rows is the cluster as
// --cluster has it, and their site is the system alone.
inline constexpr std::string_view kNcclTestsSource = "nccl-tests";

// Reads the bytes of a file, gzipped or not. `of_nodes`, if given, tells the links of GPUs
// whose links neither the column `fabric` nor measured_fabric.h tells; a row whose links remain
// unknown is skipped. Throws InputError:
// "collectives.csv:3: op: got "sum", want all_reduce, all_gather, ...".
CollectiveTable ParseCollectiveTable(std::string_view bytes, const std::string& path,
                                     const FabricOfNodes& of_nodes = {});

// Whether a text that begins like this, gzipped or not, is such a table.
bool IsCollectiveTable(std::string_view bytes);

// Writes the same columns; fabrics are written out (fabric_words.h), and nodes are Fabric::nodes,
// scale-up domains. Samples of one rank get valid = 0. Reading the table gives the same samples,
// except for their site. Throws an InputError that names `path` for a group whose nodes have
// unequal numbers of ranks, for which there is no column.
std::string FormatCollectiveTable(std::span<const NetworkSample> samples, const std::string& path);

}  // namespace stagecraft
