#include "sim/job/part_names.h"

#include <fmt/core.h>

#include "costmodel/text.h"

namespace stagecraft {
namespace {

// The number in "node12" or "rack3"; no value if it has another form or is not below `count`.
std::optional<int> Numbered(std::string_view name, std::string_view word, int count) {
  if (!name.starts_with(word)) return std::nullopt;
  const std::optional<int> number = ParseNumber<int>(name.substr(word.size()));
  if (!number || *number < 0 || *number >= count) return std::nullopt;
  if (fmt::format("{}{}", word, *number) != name) return std::nullopt;
  return number;
}

}  // namespace

std::optional<int> FindDevice(std::string_view name, const Cluster& cluster) {
  const std::optional<int> node = FindNode(name.substr(0, name.find('/')), cluster);
  if (!node) return std::nullopt;
  const int first = cluster.first_device(*node);
  for (int device = first; device < first + cluster.node(*node).devices; ++device) {
    if (cluster.DeviceName(device) == name) return device;
  }
  return std::nullopt;
}

std::optional<int> FindNode(std::string_view name, const Cluster& cluster) {
  return Numbered(name, "node", cluster.node_count());
}

std::optional<int> FindRack(std::string_view name, const Racks& racks) {
  return Numbered(name, "rack", racks.count());
}

std::map<std::string, std::vector<int>> FindLinks(std::span<const std::string> names,
                                                  const Cluster& cluster) {
  std::map<std::string, std::vector<int>> links;
  for (const std::string& name : names) links.try_emplace(name);
  if (links.empty()) return links;
  for (int link = 0; link < cluster.link_count(); ++link) {
    const auto found = links.find(cluster.LinkName(link));
    if (found != links.end()) found->second.push_back(link);
  }
  return links;
}

std::string DescribeDevices(const Cluster& cluster) {
  return fmt::format("from {} to {}", cluster.DeviceName(0),
                     cluster.DeviceName(cluster.device_count() - 1));
}

std::string DescribeNodes(const Cluster& cluster) {
  return fmt::format("from node0 to node{}", cluster.node_count() - 1);
}

std::string LinkExample(const Cluster& cluster) {
  return cluster.link_count() > 0 ? cluster.LinkName(0) : "a -> b";
}

std::string DescribeParts(const Cluster& cluster) {
  return fmt::format("a device {}, a node {}, or a link of the form \"{}\"",
                     DescribeDevices(cluster), DescribeNodes(cluster), LinkExample(cluster));
}

}  // namespace stagecraft
