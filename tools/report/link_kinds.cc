#include "tools/report/link_kinds.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/link.h"
#include "costmodel/network_kind.h"
#include "sim/cluster/cluster_spec.h"

namespace stagecraft {
namespace {

// The first device of the node at which a link begins, whose vendor names the links of the node;
// the first one of the cluster for a link that begins at no node.
int DeviceAt(const Cluster& cluster, int link) {
  constexpr std::string_view kPrefix = "node";
  if (cluster.groups().size() == 1) return 0;  // all nodes have the same
  const std::string name = cluster.LinkName(link);
  int node = -1;
  if (name.starts_with(kPrefix)) {
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), node);
  }
  return node >= 0 && node < cluster.node_count() ? cluster.first_device(node) : 0;
}

std::vector<std::pair<std::string, int>> CountKinds(const Cluster& cluster,
                                                    std::span<const int> links) {
  std::vector<std::pair<std::string, int>> counts;
  // In a cluster of like nodes like links have one name, and neighbours are mostly alike.
  const bool are_like = cluster.groups().size() == 1;
  std::optional<Link> last;
  size_t at = 0;  // of the last link's kind
  for (const int link : links) {
    Link what = cluster.link(link);
    if (!are_like || !last || !(what == *last)) {
      const std::string kind = LinkKindName(cluster, link);
      const auto found = std::find_if(counts.begin(), counts.end(),
                                      [&](const auto& count) { return count.first == kind; });
      at = static_cast<size_t>(found - counts.begin());
      if (found == counts.end()) counts.emplace_back(kind, 0);
    }
    ++counts[at].second;
    last = std::move(what);
  }
  return counts;
}

}  // namespace

std::string LinkKindName(const Cluster& cluster, int link) {
  const Link what = cluster.link(link);
  const bool is_stated = what.kind == LinkKind::kNetwork && what.network != NetworkKind::kUnstated;
  if (is_stated) return Title(what.network);
  return LinkName(what.kind, cluster.device(DeviceAt(cluster, link)));
}

std::string LinkKindsText(const Cluster& cluster, std::span<const int> links) {
  std::string text;
  for (const auto& [kind, count] : CountKinds(cluster, links)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  }
  return text.empty() ? "none" : text;
}

nlohmann::ordered_json LinkKindsToJson(const Cluster& cluster, std::span<const int> links) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [kind, count] : CountKinds(cluster, links)) json[kind] = count;
  return json;
}

}  // namespace stagecraft
