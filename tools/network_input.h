// Measured collectives as verbs take them: tables, and nccl-tests logs of a
// cluster that --cluster describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/network/network_sample.h"
#include "tools/command.h"

namespace stagecraft {

struct NetworkInput {
  Args files;
  std::vector<NetworkSample> samples;
  int64_t invalid = 0;  // rows that a table itself says are no measurements
};

// Tables (.csv, .csv.gz) and logs, told by their contents. `cluster` as --cluster
// has it; empty: logs are refused. A log's hosts are the cluster's first nodes,
// its ranks the first devices of each; its site is the cluster's name. Throws
// InputError that names `flag` or the file: a file given twice, a GPU that is not
// in the catalogue, more hosts or ranks than the cluster has, no sample at all.
NetworkInput ReadNetworkInput(const std::string& flag, const Args& paths,
                              const std::string& cluster = "");

}  // namespace stagecraft
