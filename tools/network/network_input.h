// Measured collectives as input of verbs: tables, and nccl-tests logs of a cluster that --cluster
// describes.
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
  // Rows with unknown GPUs or links, by GPU and reason.
  std::map<std::pair<std::string, std::string>, int> skipped;
};

// The site of logs taken on the cluster: the cluster's name or, for a file without one, that of the
// file without folders.
std::string SiteOf(const Cluster& cluster);

// What a log measured, size by size, without system and site. Its hosts are the cluster's first
// nodes, its ranks the first devices of each. Throws an InputError that opens with `path` for more
// hosts or ranks than the cluster has, and for other GPUs than the cluster's (gpu_name.h).
std::vector<NetworkSample> SamplesOfLog(const NcclTestsLog& log, const Cluster& cluster,
                                        const std::string& path);

// The fabric of a group of nodes of the catalogue, as simulations see it; for
// costmodel/network/collective_table.h.
std::optional<Fabric> FabricOnCatalogueNodes(const GroupOnNodes& group);

// Reads tables (.csv, .csv.gz) and logs, recognised by their contents. `cluster` is where logs were
// taken; with nullptr logs are refused. Throws an InputError that names `flag` or the file for a
// file given twice, for no sample at all, and as SamplesOfLog() does. Links that neither a table
// nor its GPU type tells are those of the node type that it names.
NetworkInput ReadNetworkInput(const std::string& flag, const Args& paths,
                              const Cluster* cluster = nullptr);

// The same for logs alone; tables are refused.
NetworkInput ReadNetworkLogs(const std::string& flag, const Args& paths, const Cluster& cluster);

}  // namespace stagecraft
