#include "tools/whatif/cluster_text.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "sim/cluster/node_catalogue.h"

namespace stagecraft {
namespace {

// One part of a sum: "h100-sxm:8x8@nic=200".
struct Part {
  std::string name;
  int64_t nodes = 0;
  std::string devices;  // "x8", or empty for all of a node
  std::string options;  // "@nic=200", or empty
};

std::vector<Part> PartsOf(const std::string& cluster, const std::string& place) {
  if (IsProtoExtension(std::filesystem::path(cluster).extension().string())) {
    throw InputError(fmt::format(
        "{}: {} is a file, whose nodes are not changed, want cluster=OTHER", place, cluster));
  }
  std::vector<Part> parts;
  for (std::string_view text : SplitAt(cluster, '+')) {
    Part part;
    const size_t at = text.find('@');
    if (at != std::string_view::npos) part.options = text.substr(at);
    text = text.substr(0, at);
    const size_t colon = text.rfind(':');
    part.name = text.substr(0, colon);
    std::string_view counts = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    const std::optional<int64_t> nodes = TakeNumber<int64_t>(counts);
    if (!nodes) throw InputError(fmt::format("{}: --cluster {} is not known", place, cluster));
    part.nodes = *nodes;
    part.devices = counts;
    parts.push_back(std::move(part));
  }
  return parts;
}

std::string TextOf(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) {
    text += fmt::format("{}{}:{}{}{}", text.empty() ? "" : "+", part.name, part.nodes, part.devices,
                        part.options);
  }
  return text;
}

}  // namespace

std::string WithGpu(const std::string& cluster, const std::string& gpu, const std::string& place) {
  DeviceCatalogue::Embedded().Get(gpu, place);
  std::vector<Part> parts = PartsOf(cluster, place);
  for (Part& part : parts) {
    if (part.devices.empty()) {
      const NodeEntry& node = NodeCatalogue::Embedded().Get(part.name, place);
      part.devices = fmt::format("x{}", node.type.devices);
    }
    part.name = gpu;
  }
  return TextOf(parts);
}

std::string WithNodes(const std::string& cluster, const std::string& text,
                      std::optional<double> factor, const std::string& place) {
  std::vector<Part> parts = PartsOf(cluster, place);
  if (!factor) {
    const std::optional<int64_t> nodes = ParseNumber<int64_t>(text);
    if (!nodes || *nodes < 1) {
      throw InputError(
          fmt::format("{}: want a number of nodes above 0, or a multiple such as 2x", place));
    }
    if (parts.size() > 1) {
      throw InputError(fmt::format(
          "{}: the cluster has several kinds of nodes, want a multiple such as 2x", place));
    }
    parts[0].nodes = *nodes;
    return TextOf(parts);
  }
  for (Part& part : parts) {
    const double nodes = static_cast<double>(part.nodes) * *factor;
    constexpr double kMost = 1e6;
    if (!(nodes >= 1 && nodes <= kMost) || nodes != std::floor(nodes)) {
      throw InputError(fmt::format("{}: {} nodes of {} become {:g}, want a whole number above 0",
                                   place, part.nodes, part.name, nodes));
    }
    part.nodes = static_cast<int64_t>(nodes);
  }
  return TextOf(parts);
}

}  // namespace stagecraft
