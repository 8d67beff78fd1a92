// Measured collectives as verbs take them: tables, and nccl-tests logs of a
// cluster that --cluster describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/network/nccl_tests_log.h"
#include "costmodel/network/network_sample.h"
#include "sim/cluster.h"
#include "tools/command.h"

namespace stagecraft {

struct NetworkInput {
  Args files;
  std::vector<NetworkSample> samples;
  int64_t invalid = 0;  // rows that a table itself says are no measurements
};

// What a log measured, size by size, without system and site. Its hosts are the
// cluster's first nodes, its ranks the first devices of each. Throws InputError
// that opens with `path`: more hosts or ranks than the cluster has.
std::vector<NetworkSample> SamplesOfLog(const NcclTestsLog& log, const Cluster& cluster,
                                        const std::string& path);

// Tables (.csv, .csv.gz) and logs, told by their contents. `cluster` as --cluster
// has it; empty: logs are refused. The site of logs is `cluster`. Throws
// InputError that names `flag` or the file: a file given twice, a GPU that is not
// in the catalogue, no sample at all, and what SamplesOfLog does.
NetworkInput ReadNetworkInput(const std::string& flag, const Args& paths,
                              const std::string& cluster = "");

}  // namespace stagecraft
