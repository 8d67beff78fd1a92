#include "costmodel/network/fabric_words.h"

#include <fmt/core.h>

#include <optional>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr std::string_view kPlus = " + ";
constexpr std::string_view kMulticast = "nvls";
constexpr LinkKind kKinds[] = {LinkKind::kNvlink, LinkKind::kPcie, LinkKind::kNetwork,
                               LinkKind::kHost};
constexpr double kMostBytesPerSecond = 1e16;
constexpr double kMostNanoseconds = 1e9;

std::string LinkWords(const Link& link) {
  const bool is_stated = link.kind == LinkKind::kNetwork && link.network != NetworkKind::kUnstated;
  return fmt::format("{} {} B/s {} ns", is_stated ? Name(link.network) : Name(link.kind),
                     link.bandwidth.bytes_per_s(), link.latency.ns());
}

bool ReadNumber(std::string_view word, double most, double* value) {
  const std::optional<double> number = ParseNumber<double>(word);
  if (!number || !(*number >= 0 && *number <= most)) return false;
  *value = *number;
  return true;
}

bool ReadLink(std::string_view words, Link* link) {
  const std::vector<std::string_view> parts = SplitAt(words, ' ');
  double bandwidth = 0, latency = 0;
  if (parts.size() != 5 || parts[2] != "B/s" || parts[4] != "ns" ||
      !ReadNumber(parts[1], kMostBytesPerSecond, &bandwidth) ||
      !ReadNumber(parts[3], kMostNanoseconds, &latency) || bandwidth < 1) {
    return false;
  }
  *link = {LinkKind::kNetwork, Duration::Nanoseconds(static_cast<int64_t>(latency)),
           Bandwidth(bandwidth)};
  for (const LinkKind kind : kKinds) {
    if (parts[0] != Name(kind)) continue;
    link->kind = kind;
    return true;
  }
  const std::optional<NetworkKind> network = FindNetworkKind(parts[0]);
  link->network = network.value_or(NetworkKind::kUnstated);
  return link->network != NetworkKind::kUnstated;
}

}  // namespace

std::string FabricWords(const Fabric& fabric) {
  std::string words = LinkWords(fabric.intra);
  if (fabric.nodes > 1) words.append(kPlus).append(LinkWords(fabric.inter));
  if (fabric.nvls) words.append(kPlus).append(kMulticast);
  return words;
}

bool IsFabricWords(std::string_view words) { return words.find(" B/s ") != words.npos; }

Fabric ParseFabricWords(std::string_view words, const std::string& place) {
  Fabric fabric;
  std::vector<std::string_view> parts = SplitAt(words, kPlus);
  if (parts.size() > 1 && parts.back() == kMulticast) {
    fabric.nvls = true;
    parts.pop_back();
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i < 2 && ReadLink(parts[i], i == 0 ? &fabric.intra : &fabric.inter)) continue;
    throw InputError(
        fmt::format("{}: fabric: got \"{}\", want KIND NUMBER B/s NUMBER ns, at most two of these "
                    "and nvls, separated by \" + \"",
                    place, parts[i]));
  }
  return fabric;
}

}  // namespace stagecraft
