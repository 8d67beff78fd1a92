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
#include "costmodel/proto_file.h"
#include "sim/cluster_spec.h"
#include "sim/node_catalogue.h"

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

void CheckGpus(const NetworkInput& input) {
  std::set<std::string> known;
  for (const NetworkSample& sample : input.samples) {
    if (known.insert(sample.gpu).second) {
      DeviceCatalogue::Embedded().Get(sample.gpu, sample.system + ": gpu_id");
    }
  }
}

}  // namespace

std::vector<NetworkSample> SamplesOfLog(const NcclTestsLog& log, const Cluster& cluster,
                                        const std::string& path) {
  const std::vector<int> devices = Place(log, cluster, path);
  const bool is_pair = log.kind == OpKind::kSendRecv && devices.size() == 2;
  const Fabric fabric =
      is_pair ? cluster.DescribePair(devices[0], devices[1], 1) : cluster.DescribeGroup(devices);
  NetworkSample sample;
  sample.gpu = cluster.device(devices[0]).id;
  const std::string& node = cluster.node(0).id;
  if (NodeCatalogue::Embedded().Find(node) != nullptr) sample.node = node;
  sample.dtype = log.dtype;
  sample.software = log.software;
  sample.source = kNcclTestsSource;
  std::vector<NetworkSample> samples;
  for (const NcclTestsLog::Row& row : log.rows) {
    sample.op = Op::Collective(log.kind, row.bytes, fabric);
    sample.time = row.time;
    samples.push_back(sample);
  }
  return samples;
}

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
      for (NetworkSample& sample : SamplesOfLog(ParseNcclTestsLog(text, path), *cluster, path)) {
        if (sample.op.fabric.ranks <= 1) continue;  // a copy in memory
        sample.site = cluster_spec;
        sample.system = path;
        input.samples.push_back(std::move(sample));
      }
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
