#include "sim/cluster/cluster_spec.h"

#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/node_catalogue.h"

namespace stagecraft {
namespace {

constexpr double kBytesPerGigabit = 1e9 / 8;
constexpr double kLeastNicGbit = 1, kMostNicGbit = 10'000;

constexpr char kForms[] = "GPU:NxG (h100-sxm:8x8), NODE:N (dgx-h100:8) or a cluster file";
constexpr char kFiles[] = "a cluster as .yaml, .json, .textproto or .pb, such as import makes";

// A count of nodes or devices.
int ParseCount(const std::string& text, const std::string& part, const std::string& place) {
  const std::optional<int64_t> count = ParseNumber<int64_t>(text);
  if (!count || *count < 1 || *count > Cluster::kMaxDevices) {
    throw InputError(fmt::format("{}: got \"{}\" in \"{}\", want a whole number from 1 to {}",
                                 place, text, part, Cluster::kMaxDevices));
  }
  return static_cast<int>(*count);
}

[[noreturn]] void FailUnknown(const std::string& name, const std::string& place) {
  std::vector<std::string> known;
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    known.push_back(entry.device.id);
    known.insert(known.end(), entry.aliases.begin(), entry.aliases.end());
  }
  for (const NodeEntry& entry : NodeCatalogue::Embedded().entries()) {
    known.push_back(entry.type.id);
  }
  throw InputError(fmt::format("{}: unknown GPU or node type \"{}\"; {}", place, name,
                               NearestNames(name, known)));
}

// Changes the interfaces of nodes as "nic=200" says.
void ApplyOption(const std::string& option, NodeType& type, const std::string& place) {
  const std::string_view prefix = "nic=";
  std::optional<double> gigabits;
  if (option.starts_with(prefix)) gigabits = ParseNumber<double>(option.substr(prefix.size()));
  if (!gigabits || !(*gigabits >= kLeastNicGbit && *gigabits <= kMostNicGbit)) {
    throw InputError(fmt::format(
        "{}: got \"@{}\", want @nic=GBIT, the Gbit/s of every network interface, from {} to {}",
        place, option, kLeastNicGbit, kMostNicGbit));
  }
  if (type.nics == 0) {
    throw InputError(
        fmt::format("{}: got \"@{}\", but a {} has no network interfaces", place, option, type.id));
  }
  type.nic.bandwidth = Bandwidth(*gigabits * kBytesPerGigabit);
}

// Throws the InputError for a word that does not say how many nodes there are.
[[noreturn]] void FailUncounted(const std::string& part, const std::string& place) {
  const std::string name = part.substr(0, part.find(':'));
  std::string wanted = kForms;
  if (NodeCatalogue::Embedded().Find(name) != nullptr) {
    wanted = name + ":N for N of these nodes";
  } else if (DeviceCatalogue::Embedded().Find(name) != nullptr) {
    wanted = name + ":NxG for N nodes of G of these GPUs";
  }
  throw InputError(fmt::format("{}: got \"{}\", want {}", place, part, wanted));
}

Cluster::NodeGroup ParseNodes(const std::string& part, const std::string& place) {
  const size_t colon = part.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == part.size()) {
    FailUncounted(part, place);
  }
  const std::string name = part.substr(0, colon);
  const std::string counts = part.substr(colon + 1);
  const size_t times = counts.find('x');
  const int nodes = ParseCount(counts.substr(0, times), part, place);
  const int used =
      times == std::string::npos ? 0 : ParseCount(counts.substr(times + 1), part, place);
  if (const NodeEntry* node = NodeCatalogue::Embedded().Find(name)) {
    return {UseDevicesChecked(node->type, used, place), nodes};
  }
  if (DeviceCatalogue::Embedded().Find(name) == nullptr) FailUnknown(name, place);
  if (used == 0) {
    throw InputError(
        fmt::format("{}: got \"{}\", want {}:NxG for a GPU: N nodes of G GPUs", place, part, name));
  }
  return {ReferenceNode(name, used, place), nodes};
}

Cluster::NodeGroup ParsePart(const std::string& part, const std::string& place) {
  const size_t at = part.find('@');
  Cluster::NodeGroup group = ParseNodes(part.substr(0, at), place);
  if (at != std::string::npos) ApplyOption(part.substr(at + 1), group.type, place);
  return group;
}

// Throws InputError if `spec` names a file or folder, or can name nothing else.
void RefuseOtherFiles(const std::string& spec) {
  if (spec.find(':') != std::string::npos) return;
  std::error_code error;
  if (std::filesystem::exists(spec, error)) {
    throw InputError(fmt::format("{}: got a {}, want {}", spec,
                                 std::filesystem::is_directory(spec, error)
                                     ? "folder"
                                     : "file whose name does not end as those of clusters do",
                                 kFiles));
  }
  if (spec.find('/') == std::string::npos) return;
  throw InputError(fmt::format("{}: there is no such file, want {}", spec, kFiles));
}

std::string Gigabytes(Bandwidth bandwidth) {
  return fmt::format("{:.4g} GB/s", bandwidth.bytes_per_s() * 1e-9);
}

const char* Noun(const Device& device) {
  return device.generation == Generation::kHost ? "CPU core" : "GPU";
}

// Returns the name that the vendor gives to direct links between devices.
const char* DirectLinkName(Generation generation) {
  switch (generation) {
    case Generation::kCdna2:
    case Generation::kCdna3:
    case Generation::kCdna4:
      return "Infinity Fabric";
    case Generation::kGaudi:
      return "Ethernet";
    default:
      return "NVLink";
  }
}

std::string DescribeGroup(const Cluster::NodeGroup& group) {
  const NodeType& type = group.type;
  const std::string idle =
      type.idle_devices == 0 ? "" : fmt::format(" of {}", type.devices + type.idle_devices);
  const std::string kind = LinkName(type.intra.kind, type.device);
  const bool says_all = std::string(Name(type.wiring)) == Name(type.intra.kind);
  const std::string wiring = says_all ? kind : Name(type.wiring) + (" " + kind);
  std::string text =
      fmt::format("{} x {} with {}{} {} ({} {} per {}", group.count, type.id, type.devices, idle,
                  type.device.name, wiring, Gigabytes(type.intra.bandwidth), Noun(type.device));
  if (type.domain_nodes > 1) text += fmt::format(" across {} nodes", type.domain_nodes);
  if (type.nics > 0) {
    const bool is_stated = type.nic.network != NetworkKind::kUnstated;
    text += fmt::format(", {} {} x {} per node", is_stated ? Title(type.nic.network) : "network",
                        type.nics, Gigabytes(type.nic.bandwidth));
  }
  return text + ")";
}

// "; ib: fat tree, 2 nodes per leaf, 8 uplinks of 50 GB/s"
std::string DescribeFabric(const FabricSpec& fabric) {
  std::string text = fmt::format("; {}: {}", fabric.name, Name(fabric.kind));
  if (fabric.kind == FabricKind::kSingleSwitch) return text;
  if (fabric.leaf_nodes.empty()) {
    text += fmt::format(", {} nodes per leaf", fabric.nodes_per_leaf);
  } else {
    text += fmt::format(", {} uneven leaves", fabric.leaf_nodes.size());
  }
  if (fabric.nodes_per_pod > 0) text += fmt::format(", {} per pod", fabric.nodes_per_pod);
  for (const FabricTier& tier : fabric.tiers) {
    text += fmt::format(", {} uplinks of {}", tier.uplinks, Gigabytes(tier.up.bandwidth));
  }
  return text;
}

}  // namespace

Cluster ParseCluster(const std::string& spec, const std::string& place) {
  if (IsProtoExtension(std::filesystem::path(spec).extension().string())) {
    ClusterProto proto;
    ReadProtoFile(spec, &proto);
    return ClusterFromProto(proto, spec);
  }
  RefuseOtherFiles(spec);
  std::vector<Cluster::NodeGroup> groups;
  for (const std::string_view part : SplitAt(spec, '+')) {
    groups.push_back(ParsePart(std::string(part), place));
  }
  return Cluster(spec, std::move(groups), {}, place);
}

const char* LinkName(LinkKind kind, const Device& device) {
  switch (kind) {
    case LinkKind::kNvlink:
      return DirectLinkName(device.generation);
    case LinkKind::kPcie:
      return "PCIe";
    case LinkKind::kNetwork:
      return "network";
    case LinkKind::kHost:
      return "shared memory";
  }
  return "";
}

std::string DescribeCluster(const Cluster& cluster) {
  std::string text = fmt::format("{} {}s: ", cluster.device_count(), Noun(cluster.device(0)));
  for (size_t i = 0; i < cluster.groups().size(); ++i) {
    text += (i == 0 ? "" : " + ") + DescribeGroup(cluster.groups()[i]);
  }
  for (const SharedMemory& shared : cluster.shared_memories()) {
    text += fmt::format("; {} of them share a memory of {}", shared.devices.size(),
                        Gigabytes(shared.bandwidth));
  }
  if (cluster.has_explicit_links()) return text + ", wired link by link as in the file";
  if (IsSingleSwitch(cluster.interconnect())) return text;
  for (const FabricSpec& fabric : cluster.interconnect().fabrics) text += DescribeFabric(fabric);
  return text;
}

}  // namespace stagecraft
