#include "tools/network/network_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/network/collective_table.h"
#include "costmodel/proto_file.h"
#include "sim/cluster/node_catalogue.h"
#include "tools/import/gpu_name.h"

namespace stagecraft {
namespace {

// The devices of the log's ranks. Its hosts are the cluster's nodes, in order.
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

void SkipUnknownGpus(NetworkInput* input) {
  std::erase_if(input->samples, [&](const NetworkSample& sample) {
    if (DeviceCatalogue::Embedded().Find(sample.gpu) != nullptr) return false;
    ++input->skipped[{sample.gpu, "is not in the device catalogue"}];
    return true;
  });
}

void CheckSomethingIsLeft(const std::string& flag, const NetworkInput& input) {
  if (!input.samples.empty()) return;
  if (input.skipped.empty()) {
    throw InputError(fmt::format(
        "{}: got no measured collective of two ranks or more, want at least one", flag));
  }
  const auto& [gpu, reason] = input.skipped.begin()->first;
  throw InputError(
      fmt::format("{}: got no measured collective that is known: {} {}", flag, gpu, reason));
}

// Throws InputError if a rank's GPU is clearly not of the type of its device in the cluster.
void CheckGpus(const NcclTestsLog& log, const Cluster& cluster, const std::vector<int>& devices,
               const std::string& path) {
  const std::vector<int> counts = log.RanksByHost();
  std::vector<int> next(counts.size());  // by host: the index in `devices` of its next rank
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), 0);
  std::map<std::string, size_t> hosts;
  for (size_t rank = 0; rank < log.ranks.size(); ++rank) {
    const NcclTestsLog::Rank& printed = log.ranks[rank];
    const size_t host = hosts.emplace(printed.host, hosts.size()).first->second;
    const Device& device = cluster.device(devices[next[host]++]);
    if (!IsAnotherGpu(printed.gpu, device.id)) continue;
    throw InputError(fmt::format("{}: devices: got \"{}\" as rank {}, want {}, as --cluster has",
                                 path, printed.gpu, rank, device.id));
  }
}

}  // namespace

std::string SiteOf(const Cluster& cluster) {
  const std::filesystem::path name(cluster.name());
  return IsProtoExtension(name.extension().string()) ? name.filename().string() : cluster.name();
}

std::vector<NetworkSample> SamplesOfLog(const NcclTestsLog& log, const Cluster& cluster,
                                        const std::string& path) {
  const std::vector<int> devices = Place(log, cluster, path);
  CheckGpus(log, cluster, devices, path);
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

namespace {

void AddLog(const NcclTestsLog& log, const Cluster& cluster, const std::string& path,
            NetworkInput* input) {
  for (NetworkSample& sample : SamplesOfLog(log, cluster, path)) {
    if (sample.op.fabric.ranks <= 1) continue;  // a copy in memory
    sample.site = SiteOf(cluster);
    sample.system = path;
    input->samples.push_back(std::move(sample));
  }
}

NetworkInput Read(const std::string& flag, const Args& paths, const Cluster* cluster,
                  bool takes_tables) {
  NetworkInput input;
  for (const std::string& path : paths) {
    if (std::find(input.files.begin(), input.files.end(), path) != input.files.end()) {
      throw InputError(fmt::format("{}: got {} twice, want each file once", flag, path));
    }
    input.files.push_back(path);
    const std::string text = ReadFile(path);
    const bool is_log = IsNcclTestsLog(text);
    if (is_log && cluster == nullptr) {
      throw InputError(fmt::format(
          "{}: got the log {}, want --cluster with it, which says what its links are", flag, path));
    }
    if (!is_log && !takes_tables) {
      throw InputError(fmt::format("{}: got {}, want a log of nccl-tests", flag, path));
    }
    if (is_log) {
      AddLog(ParseNcclTestsLog(text, path), *cluster, path, &input);
      continue;
    }
    CollectiveTable table = ParseCollectiveTable(text, path, FabricOnCatalogueNodes);
    input.invalid += table.invalid;
    for (const auto& [what, rows] : table.skipped) input.skipped[what] += rows;
    std::move(table.samples.begin(), table.samples.end(), std::back_inserter(input.samples));
  }
  SkipUnknownGpus(&input);
  CheckSomethingIsLeft(flag, input);
  return input;
}

}  // namespace

std::optional<Fabric> FabricOnCatalogueNodes(const GroupOnNodes& group) {
  const NodeEntry* const entry = NodeCatalogue::Embedded().Find(group.node);
  if (entry == nullptr || group.nodes > Cluster::kMaxDevices / entry->type.devices) {
    return std::nullopt;
  }
  const int64_t last = int64_t{group.ranks_per_node - 1} * group.stride;
  if (last >= entry->type.devices || (group.nodes > 1 && entry->type.nics == 0)) {
    return std::nullopt;
  }
  const Cluster cluster(entry->type.id, {{entry->type, group.nodes}});
  std::vector<int> devices;
  for (int node = 0; node < group.nodes; ++node) {
    for (int rank = 0; rank < group.ranks_per_node; ++rank) {
      devices.push_back(cluster.first_device(node) + rank * group.stride);
    }
  }
  const bool is_pair = group.kind == OpKind::kSendRecv && devices.size() == 2;
  return is_pair ? cluster.DescribePair(devices[0], devices[1], 1) : cluster.DescribeGroup(devices);
}

NetworkInput ReadNetworkInput(const std::string& flag, const Args& paths, const Cluster* cluster) {
  return Read(flag, paths, cluster, /*takes_tables=*/true);
}

NetworkInput ReadNetworkLogs(const std::string& flag, const Args& paths, const Cluster& cluster) {
  return Read(flag, paths, &cluster, /*takes_tables=*/false);
}

}  // namespace stagecraft
