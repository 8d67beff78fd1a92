#include "tools/network_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/network/collective_table.h"
#include "costmodel/network/nccl_tests_log.h"
#include "costmodel/proto_file.h"
#include "sim/cluster.h"
#include "sim/cluster_spec.h"

namespace stagecraft {
namespace {

// The devices that the log's ranks are: hosts in order on the cluster's nodes.
std::vector<int> Place(const NcclTestsLog& log, const Cluster& cluster, const std::string& path) {
  const std::vector<int> counts = log.RanksByHost();
  if (static_cast<int>(counts.size()) > cluster.node_count()) {
    throw InputError(
        fmt::format("{}: devices: got {} hosts, want at most the {} nodes of --cluster", path,
                    counts.size(), cluster.node_count()));
  }
  std::vector<int> devices;
  for (size_t host = 0; host < counts.size(); ++host) {
    const int node = static_cast<int>(host);
    if (counts[host] > cluster.node(node).devices) {
      throw InputError(
          fmt::format("{}: devices: got {} ranks on host {}, want at most {}, as --cluster has",
                      path, counts[host], host, cluster.node(node).devices));
    }
    for (int rank = 0; rank < counts[host]; ++rank) {
      devices.push_back(cluster.first_device(node) + rank);
    }
  }
  return devices;
}

void AddLog(const std::string& text, const std::string& path, const Cluster& cluster,
            const std::string& site, std::vector<NetworkSample>& samples) {
  const NcclTestsLog log = ParseNcclTestsLog(text, path);
  const std::vector<int> devices = Place(log, cluster, path);
  NetworkSample sample;
  sample.gpu = cluster.device(devices[0]).id;
  sample.site = site;
  sample.system = path;
  sample.source = "nccl-tests";
  const bool is_pair = log.kind == OpKind::kSendRecv && devices.size() == 2;
  const Fabric fabric =
      is_pair ? cluster.DescribePair(devices[0], devices[1], 1) : cluster.DescribeGroup(devices);
  for (const NcclTestsLog::Row& row : log.rows) {
    if (fabric.ranks <= 1) continue;  // a copy in memory
    sample.op = Op::Collective(log.kind, row.bytes, fabric);
    sample.time = row.time;
    samples.push_back(sample);
  }
}

void CheckGpus(const NetworkInput& input) {
  std::set<std::string> known;
  for (const NetworkSample& sample : input.samples) {
    if (known.insert(sample.gpu).second) {
      DeviceCatalogue::Embedded().Get(sample.gpu, sample.system + ": gpu_id");
    }
  }
}

}  // namespace

NetworkInput ReadNetworkInput(const std::string& flag, const Args& paths,
                              const std::string& cluster_spec) {
  std::optional<Cluster> cluster;
  if (!cluster_spec.empty()) cluster.emplace(ParseCluster(cluster_spec));
  NetworkInput input;
  for (const std::string& path : paths) {
    if (std::find(input.files.begin(), input.files.end(), path) != input.files.end()) {
      throw InputError(fmt::format("{}: got {} twice, want each file once", flag, path));
    }
    input.files.push_back(path);
    const std::string text = ReadFile(path);
    if (IsNcclTestsLog(text)) {
      if (!cluster) {
        throw InputError(
            fmt::format("{}: got the log {}, want --cluster with it, which says what its links are",
                        flag, path));
      }
      AddLog(text, path, *cluster, cluster_spec, input.samples);
      continue;
    }
    CollectiveTable table = ParseCollectiveTable(text, path);
    input.invalid += table.invalid;
    std::move(table.samples.begin(), table.samples.end(), std::back_inserter(input.samples));
  }
  if (input.samples.empty()) {
    throw InputError(
        fmt::format("{}: got no measured collective of two ranks or more, want some", flag));
  }
  CheckGpus(input);
  return input;
}

}  // namespace stagecraft
