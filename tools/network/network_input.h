// NetworkInput: the measured collectives that a verb reads, from tables and from nccl-tests logs of
// a cluster that --cluster describes.
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
  int64_t invalid = 0;  // rows of which their table says that they are no measurements
  // Numbers of rows with unknown GPUs or links, by GPU and reason.
  std::map<std::pair<std::string, std::string>, int> skipped;
};

// Returns the site of logs taken on the cluster: the cluster's name or, if its file states none,
// the file's name without folders.
std::string SiteOf(const Cluster& cluster);

// Returns what a log measured, size by size, without system and site. Its hosts are the cluster's
// first nodes, and its ranks the first devices of each. Throws an InputError that begins with
// `path` for more hosts or ranks than the cluster has, and for other GPUs than the cluster's
// (gpu_name.h).
std::vector<NetworkSample> SamplesOfLog(const NcclTestsLog& log, const Cluster& cluster,
                                        const std::string& path);

// Returns the fabric of a group of devices on nodes of the catalogue, as simulations see it; no
// value for a node type that is not in it or that has no such group. For
// costmodel/network/collective_table.h.
std::optional<Fabric> FabricOnCatalogueNodes(const GroupOnNodes& group);

// Reads tables (.csv, .csv.gz) and logs, which are recognised by their contents. `cluster` is where
// logs were taken; with nullptr logs are refused. If neither the words of a table nor its GPU type
// tell its links, they are those of the node type that it names. Throws an InputError that names
// `flag` or the file for a file given twice, for no sample at all, and as SamplesOfLog() does.
NetworkInput ReadNetworkInput(const std::string& flag, const Args& paths,
                              const Cluster* cluster = nullptr);

// Reads only logs; tables are refused.
NetworkInput ReadNetworkLogs(const std::string& flag, const Args& paths, const Cluster& cluster);

}  // namespace stagecraft
