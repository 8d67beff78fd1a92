#include "costmodel/network/measured_networks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "costmodel/check.h"
#include "costmodel/network/network_words.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "proto/measured_networks.pb.h"

namespace stagecraft {
namespace {

constexpr const char* kFile = "measured_networks.textproto";
constexpr std::string_view kPlus = " + ";
constexpr int64_t kMostLatencyNs = 1'000'000'000;
constexpr double kMostBandwidth = 1e16;  // bytes a second
constexpr int kMostDevices = 1024;

static_assert(static_cast<int>(Timing::kFramework) == CollectiveSourceProto::FRAMEWORK);

void CheckOrigin(const std::string& origin, const std::string& place) {
  if (origin.empty()) throw InputError(place + ".origin: got none, want a document or a reason");
}

int CheckCount(int count, const std::string& place) {
  if (count >= 0 && count <= kMostDevices) return count;
  throw InputError(fmt::format("{}: got {}, want 0 to {}", place, count, kMostDevices));
}

std::vector<std::string> Parts(std::string_view fabric) {
  std::vector<std::string> parts;
  for (size_t plus; (plus = fabric.find(kPlus)) != fabric.npos;) {
    parts.emplace_back(fabric.substr(0, plus));
    fabric.remove_prefix(plus + kPlus.size());
  }
  parts.emplace_back(fabric);
  return parts;
}

// Returns the column of this name; nullptr if MeasuredPlace has none.
const std::string* Column(const MeasuredPlace& place, const std::string& name) {
  if (name == "source") return &place.source;
  if (name == "system") return &place.system;
  if (name == "fabric") return &place.fabric;
  if (name == "library") return &place.software;
  return nullptr;
}

// Returns the kind of network that a file names, if it names one.
std::optional<NetworkKind> ReadKind(const std::string& word, const std::string& place) {
  if (word.empty()) return std::nullopt;
  if (const std::optional<NetworkKind> kind = FindNetworkKind(word)) return kind;
  throw InputError(fmt::format(
      "{}.kind: got \"{}\", want a kind of network, such as infiniband or cloud-tcp", place, word));
}

MeasuredNetworks::Interfaces ReadInterfaces(const NetworkWordsProto& proto,
                                            const std::string& place) {
  CheckOrigin(proto.origin(), place);
  if (proto.latency_ns() < 0 || proto.latency_ns() > kMostLatencyNs) {
    throw InputError(fmt::format("{}.latency_ns: got {}, want 0 to {}", place, proto.latency_ns(),
                                 kMostLatencyNs));
  }
  const double bandwidth = proto.bandwidth_bytes_per_s();
  if (!(bandwidth > 0 && bandwidth <= kMostBandwidth)) {
    throw InputError(fmt::format("{}.bandwidth_bytes_per_s: got {}, want > 0", place, bandwidth));
  }
  return {{LinkKind::kNetwork, Duration::Nanoseconds(proto.latency_ns()), Bandwidth(bandwidth),
           ReadKind(proto.kind(), place).value_or(NetworkKind::kUnstated)},
          !proto.is_unknown()};
}

}  // namespace

bool MeasuredNetworks::Node::Holds(const MeasuredPlace& place) const {
  const std::vector<std::string> parts = Parts(place.fabric);
  const bool has_fabric =
      fabric.empty() || std::find(parts.begin(), parts.end(), fabric) != parts.end();
  return has_fabric && (node.empty() || node == place.node);
}

MeasuredNetworks MeasuredNetworks::Parse(const std::string& text, const std::string& name) {
  MeasuredNetworksProto proto;
  ParseProtoText(text, name, ".textproto", &proto);
  MeasuredNetworks table;
  for (int i = 0; i < proto.networks_size(); ++i) {
    const std::string place = fmt::format("{}: networks[{}]", name, i);
    const NetworkWordsProto& network = proto.networks(i);
    if (!table.networks_.emplace(network.words(), ReadInterfaces(network, place)).second) {
      throw InputError(
          fmt::format("{}.words: got \"{}\" twice, want it once", place, network.words()));
    }
  }
  for (int i = 0; i < proto.nodes_size(); ++i) {
    const std::string place = fmt::format("{}: nodes[{}]", name, i);
    const MeasuredNodeProto& node = proto.nodes(i);
    CheckOrigin(node.origin(), place);
    table.nodes_.push_back({node.fabric(), node.node_id(),
                            CheckCount(node.links_of_pair(), place + ".links_of_pair"),
                            CheckCount(node.sharing_devices(), place + ".sharing_devices"),
                            ReadKind(node.kind(), place)});
  }
  for (int i = 0; i < proto.sources_size(); ++i) {
    const std::string place = fmt::format("{}: sources[{}]", name, i);
    const CollectiveSourceProto& source = proto.sources(i);
    CheckOrigin(source.origin(), place);
    for (const std::string& column : source.site()) {
      if (Column(MeasuredPlace(), column) != nullptr) continue;
      throw InputError(fmt::format(
          "{}.site: got \"{}\", want one of source, system, fabric, library", place, column));
    }
    const Source read = {static_cast<Timing>(source.timing()),
                         source.copies_lists(),
                         {source.site().begin(), source.site().end()}};
    if (!table.sources_.emplace(source.source(), read).second) {
      throw InputError(
          fmt::format("{}.source: got \"{}\" twice, want it once", place, source.source()));
    }
  }
  return table;
}

const MeasuredNetworks& MeasuredNetworks::Embedded() {
  static const MeasuredNetworks table = Parse(std::string(EmbeddedFile(kFile)), kFile);
  return table;
}

MeasuredNetworks::Interfaces MeasuredNetworks::Between(const MeasuredPlace& place,
                                                       const std::string& row) const {
  Interfaces interfaces = ByWords(place.fabric, row);
  for (const Node& node : nodes_) {
    if (!node.network || !node.Holds(place)) continue;
    interfaces.link.network = *node.network;
    break;
  }
  return interfaces;
}

MeasuredNetworks::Interfaces MeasuredNetworks::ByWords(const std::string& fabric,
                                                       const std::string& row) const {
  for (const std::string& part : Parts(fabric)) {
    const auto found = networks_.find(part);
    if (found != networks_.end()) return found->second;
    if (const std::optional<Link> link = ParseNetworkWords(part)) return {*link};
  }
  std::vector<std::string> known;
  for (const auto& [name, interfaces] : networks_) known.push_back("\"" + name + "\"");
  throw InputError(fmt::format(
      "{}: fabric: got \"{}\", which names no known network between the nodes, want one of {} in "
      "it, a kind and a rate (8x400G InfiniBand, 4x100G EFA, 25GbE), or links as numbers (KIND "
      "NUMBER B/s NUMBER ns + network NUMBER B/s NUMBER ns)",
      row, fabric, fmt::join(known, ", ")));
}

int MeasuredNetworks::LinksOfPair(const MeasuredPlace& place) const {
  for (const Node& node : nodes_) {
    if (node.links_of_pair > 0 && node.Holds(place)) return node.links_of_pair;
  }
  return 0;
}

int MeasuredNetworks::SharingDevices(const MeasuredPlace& place) const {
  for (const Node& node : nodes_) {
    if (node.sharing_devices > 0 && node.Holds(place)) return node.sharing_devices;
  }
  return 0;
}

Timing MeasuredNetworks::TimingOf(std::string_view source) const {
  const auto found = sources_.find(source);
  return found == sources_.end() ? Timing::kCollective : found->second.timing;
}

bool MeasuredNetworks::CopiesLists(std::string_view source) const {
  const auto found = sources_.find(source);
  return found != sources_.end() && found->second.copies_lists;
}

// NCCL's version is part of the site if it is stated: "nccl-2.27.3", not "nccl".
std::string MeasuredNetworks::Site(const MeasuredPlace& place) const {
  const auto found = sources_.find(place.source);
  if (found == sources_.end() || found->second.site.empty()) {
    const bool has_version = place.software.find('-') != std::string::npos;
    return fmt::format("{} {}{}", place.source, place.system,
                       has_version ? " " + place.software : "");
  }
  std::vector<std::string> words;
  for (const std::string& column : found->second.site) words.push_back(*Column(place, column));
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace stagecraft
