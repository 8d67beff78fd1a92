#include "tools/network/network_import.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/collectives.h"
#include "costmodel/network/collective_table.h"
#include "costmodel/network/nccl_tests_log.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/import/import_text.h"
#include "tools/network/network_input.h"

namespace stagecraft {
namespace {

std::vector<NetworkSample> ReadLogs(const NetworkImport& source, const Cluster& cluster) {
  std::vector<NetworkSample> all;
  std::set<std::string> read;
  for (const std::string& path : source.logs) {
    if (!read.insert(path).second) {
      throw InputError(fmt::format("IN: got {} twice, want each file once", path));
    }
    const std::string text = ReadSourceText(path, kMostNcclTestsLogBytes);
    const NcclTestsLog log = ParseNcclTestsLog(text, path, source.kind);
    for (NetworkSample& sample : SamplesOfLog(log, cluster, path)) {
      sample.system = SiteOf(cluster);
      all.push_back(std::move(sample));
    }
  }
  return all;
}

void CountRepeats(std::vector<NetworkSample>* samples) {
  using Point = std::tuple<OpKind, int, int, int64_t, std::string>;
  std::map<Point, int> seen;
  for (NetworkSample& sample : *samples) {
    const Fabric& fabric = sample.op.fabric;
    sample.repeat =
        seen[{sample.op.kind, fabric.nodes, fabric.ranks, sample.op.bytes.count(), sample.dtype}]++;
  }
}

}  // namespace

ImportedCollectives ImportNcclTests(const NetworkImport& source, const std::string& out) {
  if (source.cluster.empty()) {
    throw InputError("--cluster: got none, want the cluster on which the logs were taken");
  }
  const Cluster cluster = ParseCluster(source.cluster);
  std::vector<NetworkSample> samples = ReadLogs(source, cluster);
  CountRepeats(&samples);
  ImportedCollectives imported;
  imported.table = FormatCollectiveTable(samples, out);
  int least = samples[0].op.fabric.ranks, most = least;
  int64_t alone = 0, repeats = 0;
  for (const NetworkSample& sample : samples) {
    least = std::min(least, sample.op.fabric.ranks);
    most = std::max(most, sample.op.fabric.ranks);
    alone += sample.op.fabric.ranks == 1 ? 1 : 0;
    repeats += sample.repeat > 0 ? 1 : 0;
  }
  imported.description =
      fmt::format("{} times on {} ranks of {}", samples.size(),
                  least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most),
                  cluster.name());
  if (alone > 0) {
    imported.notes.push_back(
        fmt::format("{} times of a single rank are copies in memory and marked valid = 0", alone));
  }
  if (repeats > 0) imported.notes.push_back(fmt::format("{} times repeat the same point", repeats));
  return imported;
}

Args CollectiveWords() {
  Args words;
  for (const Collective& collective : Collectives()) words.emplace_back(collective.word);
  return words;
}

}  // namespace stagecraft
