// Measured collectives as verbs take them: tables, and nccl-tests logs of a
// cluster that --cluster describes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/network/collective_table.h"
#include "costmodel/network/nccl_tests_log.h"
#include "costmodel/network/network_sample.h"
#include "sim/cluster/cluster.h"
#include "tools/verb/command.h"

namespace stagecraft {

struct NetworkInput {
  Args files;
  std::vector<NetworkSample> samples;
  int64_t invalid = 0;  // rows that a table itself says are no measurements
  // Rows of GPUs or links that are not known, by GPU and reason.
  std::map<std::pair<std::string, std::string>, int> skipped;
};

// What logs taken there have as their site: the cluster's name, of a file without
// one its own, without folders.
std::string SiteOf(const Cluster& cluster);

// What a log measured, size by size, without system and site. Its hosts are the
// cluster's first nodes, its ranks the first devices of each. Throws InputError
// that opens with `path`: more hosts or ranks than the cluster has, GPUs that are
// others than its (board_name.h).
std::vector<NetworkSample> SamplesOfLog(const NcclTestsLog& log, const Cluster& cluster,
                                        const std::string& path);

// The fabric of a group of nodes of the catalogue, as simulations have it; see
// costmodel/network/collective_table.h.
std::optional<Fabric> FabricOnCatalogueNodes(const GroupOnNodes& group);

// Tables (.csv, .csv.gz) and logs, told by their contents. `cluster` is where logs
// were taken; nullptr: logs are refused. Throws InputError that names `flag` or the
// file: a file given twice, no sample at all, and what SamplesOfLog does. Links that
// neither a table nor its kind of board tells are those of the node type that it names.
NetworkInput ReadNetworkInput(const std::string& flag, const Args& paths,
                              const Cluster* cluster = nullptr);

// The same of logs alone; tables are refused.
NetworkInput ReadNetworkLogs(const std::string& flag, const Args& paths, const Cluster& cluster);

}  // namespace stagecraft
