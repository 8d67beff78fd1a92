#include "costmodel/network/collective_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/collectives.h"
#include "costmodel/learned/samples/csv_field.h"
#include "costmodel/learned/samples/csv_rows.h"
#include "costmodel/learned/samples/gzip.h"
#include "costmodel/network/fabric_words.h"
#include "costmodel/network/measured_fabric.h"
#include "costmodel/network/measured_networks.h"

namespace stagecraft {
namespace {

enum Column {
  kSource,
  kSystem,
  kGpu,
  kNode,
  kNodes,
  kPerNode,
  kFabric,
  kOp,
  kLibrary,
  kAlgo,
  kType,
  kGroups,
  kStride,
  kRanks,
  kBytes,
  kTime,
  kRepeat,
  kValid
};
constexpr std::string_view kColumns[] = {"source",        "system", "gpu_id", "node_id", "nodes",
                                         "gpus_per_node", "fabric", "op",     "library", "algo",
                                         "dtype",         "groups", "stride", "n_ranks", "bytes",
                                         "time_us",       "repeat", "valid"};

constexpr std::string_view kTellingColumns[] = {"fabric", "op", "n_ranks", "bytes", "time_us"};

constexpr int64_t kMostRanks = 1 << 20;
constexpr int64_t kMostBytes = int64_t{1} << 45;
constexpr int kMostRepeats = 1'000'000;

OpKind ReadOp(const CsvRows& row) {
  if (const Collective* collective = FindCollective(row.Text(kOp))) return collective->kind;
  std::vector<std::string_view> words;
  for (const Collective& collective : Collectives()) words.push_back(collective.word);
  const std::string_view last = words.back();
  words.pop_back();
  row.Fail(kOp, fmt::format("{} or {}", fmt::join(words, ", "), last));
}

std::optional<Algorithm> ReadForced(const CsvRows& row) {
  if (row.Text(kAlgo) == "ring") return Algorithm::kRing;
  if (row.Text(kAlgo) == "tree") return Algorithm::kTree;
  if (row.Text(kAlgo) != "auto") row.Fail(kAlgo, "auto, ring or tree");
  return std::nullopt;
}

int Small(const CsvRows& row, int column, int64_t most) {
  return static_cast<int>(row.Integer(column, 1, most));
}

MeasuredGroup ReadGroup(const CsvRows& row) {
  MeasuredGroup group;
  group.gpu = row.Word(kGpu);
  group.place.source = row.Word(kSource);
  group.place.system = row.Text(kSystem);
  group.place.fabric = row.Text(kFabric);
  group.place.software = row.Text(kLibrary);
  group.place.node = row.Text(kNode);
  group.nodes = Small(row, kNodes, kMostRanks);
  group.ranks_per_node = Small(row, kPerNode, kMostRanks);
  group.stride = Small(row, kStride, kMostRanks);
  const int64_t ranks = int64_t{group.nodes} * group.ranks_per_node;
  if (row.Integer(kRanks, 1, kMostRanks) != ranks) {
    row.Fail(kRanks, fmt::format("{} nodes x {} of each", group.nodes, group.ranks_per_node));
  }
  if (ranks < 2) row.Fail(kRanks, "at least 2 in a valid row: a single rank exchanges nothing");
  return group;
}

// Returns the links that join the group: those that its table states, else those of its node type.
std::optional<MeasuredFabric> FindFabric(const CsvRows& row, const MeasuredGroup& group,
                                         OpKind kind, const FabricOfNodes& of_nodes) {
  if (auto known = DescribeMeasured(group, fmt::format("{}:{}", row.name(), row.line()))) {
    return known;
  }
  if (!of_nodes || group.place.node.empty()) return std::nullopt;
  const std::optional<Fabric> fabric =
      of_nodes({group.place.node, kind, group.nodes, group.ranks_per_node, group.stride});
  if (!fabric) return std::nullopt;
  return MeasuredFabric{.fabric = *fabric};
}

// Returns nothing if it is unknown which links join the group.
std::optional<NetworkSample> ReadSample(const CsvRows& row, const MeasuredGroup& group,
                                        const FabricOfNodes& of_nodes) {
  const OpKind kind = ReadOp(row);
  const std::optional<MeasuredFabric> found = FindFabric(row, group, kind, of_nodes);
  if (!found) return std::nullopt;
  const MeasuredFabric& measured = *found;
  NetworkSample sample;
  sample.op = Op::Collective(kind, Bytes(row.Integer(kBytes, 1, kMostBytes)), measured.fabric);
  sample.gpu = group.gpu;
  sample.node = group.place.node;
  sample.is_network_stated = measured.is_network_stated;
  sample.groups = Small(row, kGroups, kMostRanks);
  sample.stride = group.stride;
  sample.sharing = measured.sharing;
  sample.forced = ReadForced(row);
  sample.time = row.Time(kTime, 1_us);
  sample.repeat = static_cast<int>(row.Integer(kRepeat, 0, kMostRepeats));
  sample.dtype = row.Text(kType);
  sample.system = group.place.system;
  sample.software = group.place.software;
  sample.source = group.place.source;
  const MeasuredNetworks& networks = MeasuredNetworks::Embedded();
  sample.site = networks.Site(group.place);
  sample.timing = networks.TimingOf(sample.source);
  sample.copies_lists = networks.CopiesLists(sample.source) &&
                        (kind == OpKind::kAllGather || kind == OpKind::kReduceScatter);
  return sample;
}

std::string WhyUnknown(const MeasuredGroup& group) {
  if (group.place.node.empty()) {
    return "has unknown links, and no node_id from which to look them up";
  }
  return fmt::format("has unknown links, also as a group of {} on {}", group.ranks_per_node,
                     group.place.node);
}

bool HasColumn(const CsvRows& row, std::string_view column) {
  const auto header = row.header();
  return std::find(header.begin(), header.end(), column) != header.end();
}

void CheckHeader(const CsvRows& row) {
  for (const std::string_view column : kColumns) {
    if (HasColumn(row, column)) continue;
    throw InputError(fmt::format(
        "{}:1: got no column \"{}\", want one, as in a table of collectives", row.name(), column));
  }
}

std::string Row(const NetworkSample& sample) {
  const Fabric& fabric = sample.op.fabric;
  const bool is_alone = fabric.ranks <= 1;
  std::string algorithm = "auto";
  if (sample.forced) algorithm = Name(*sample.forced);
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", CsvField(sample.source),
      CsvField(sample.system), CsvField(sample.gpu), CsvField(sample.node), fabric.nodes,
      fabric.ranks_per_node, FabricWords(fabric), CollectiveOf(sample.op.kind).word,
      CsvField(sample.software), algorithm, CsvField(sample.dtype), sample.groups, sample.stride,
      fabric.ranks, sample.op.bytes.count(), Decimal(sample.time.ns(), 3), sample.repeat,
      is_alone ? 0 : 1, is_alone ? "single_rank" : "");
}

}  // namespace

CollectiveTable ParseCollectiveTable(std::string_view bytes, const std::string& path,
                                     const FabricOfNodes& of_nodes) {
  std::string unpacked;
  if (IsGzip(bytes)) {
    unpacked = Gunzip(bytes, path);
    bytes = unpacked;
  }
  CsvRows row(bytes, path);
  CheckHeader(row);
  row.Select(kColumns);
  CollectiveTable table;
  while (row.Next()) {
    if (!row.Flag(kValid)) {
      ++table.invalid;
      continue;
    }
    const MeasuredGroup group = ReadGroup(row);
    if (std::optional<NetworkSample> sample = ReadSample(row, group, of_nodes)) {
      table.samples.push_back(std::move(*sample));
    } else {
      ++table.skipped[{group.gpu, WhyUnknown(group)}];
    }
  }
  return table;
}

bool IsCollectiveTable(std::string_view bytes) {
  try {
    std::string unpacked;
    if (IsGzip(bytes)) unpacked = Gunzip(bytes, "");
    const std::string_view text = unpacked.empty() ? bytes : std::string_view(unpacked);
    const CsvRows row(text.substr(0, text.find('\n')), "");
    return std::all_of(std::begin(kTellingColumns), std::end(kTellingColumns),
                       [&](std::string_view column) { return HasColumn(row, column); });
  } catch (const InputError&) {
    return false;
  }
}

std::string FormatCollectiveTable(std::span<const NetworkSample> samples, const std::string& path) {
  std::string text = fmt::format("{},invalid_reason\n", fmt::join(kColumns, ","));
  for (const NetworkSample& sample : samples) {
    const Fabric& fabric = sample.op.fabric;
    if (fabric.nodes * fabric.ranks_per_node != fabric.ranks) {
      throw InputError(
          fmt::format("{}: got {} ranks on {} nodes, {} on one of them, want the same number on "
                      "each in a table",
                      path, fabric.ranks, fabric.nodes, fabric.ranks_per_node));
    }
    text += Row(sample);
  }
  return text;
}

}  // namespace stagecraft
