// GroupFabrics: what slow links leave of the bandwidths of groups and messages.
#include <algorithm>
#include <limits>

#include "sim/cluster/group_fabrics.h"

namespace stagecraft {

double GroupFabrics::RateLeft(std::span<const int> links, Bandwidth flow, double active) const {
  double least = 1;
  for (const int link : links) {
    const double rate = cluster_.link_rate(link);
    if (rate == 1) continue;
    if (rate == 0) {
      throw LinkDownError("stopped: messages wait for the link " + cluster_.LinkName(link) +
                          ", whose rate stays 0");
    }
    const double load = std::max(1.0, active * cluster_.Senders(link)) * flow.bytes_per_s();
    const double spare = cluster_.link(link).bandwidth.bytes_per_s() / load;
    least = std::min(least, rate * std::max(1.0, spare));
  }
  return least;
}

double GroupFabrics::IntraRate(const DomainRanks& ranks, const Link& intra) const {
  const Bandwidth unknown(std::numeric_limits<double>::infinity());
  const std::vector<int> devices = DevicesOf(ranks);
  const size_t reach = devices.size() > kMaxAllPairs ? 2 : devices.size();
  double least = 1;
  for (size_t i = 0; i < devices.size(); ++i) {
    for (size_t step = 1; step < reach; ++step) {
      const Route route = cluster_.FindRoute(devices[i], devices[(i + step) % devices.size()]);
      // NCCL's rings avoid pairs without a direct link where they can.
      if (intra.kind == LinkKind::kNvlink && route.narrowest.kind != LinkKind::kNvlink) continue;
      for (size_t hop = 0; hop < route.links.size(); ++hop) {
        const bool is_port = route.links.size() > 1 && (hop == 0 || hop + 1 == route.links.size());
        const bool is_own = is_port || cluster_.has_explicit_links();
        const Bandwidth flow = is_own ? intra.bandwidth : unknown;
        least = std::min(least, RateLeft({&route.links[hop], 1}, flow, 0));
      }
    }
  }
  return least;
}

double GroupFabrics::InterRate(const std::vector<DomainRanks>& domains, Traffic traffic,
                               const Link& inter) const {
  std::vector<std::vector<int>> devices;  // by domain
  size_t channels = std::numeric_limits<size_t>::max();
  for (const DomainRanks& ranks : domains) {
    devices.push_back(DevicesOf(ranks));
    channels = std::min(channels, devices.back().size());
  }
  const Bandwidth flow = (1.0 / static_cast<double>(channels)) * inter.bandwidth;
  double least = 1;
  const auto cross = [&](int from, int to) {
    least = std::min(least, RateLeft(cluster_.FindRoute(from, to).links, flow, 1));
  };
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::vector<int>& own = devices[i];
    if (traffic == Traffic::kRing) {
      const std::vector<int>& next = devices[(i + 1) % devices.size()];
      for (size_t c = 0; c < channels; ++c) {
        cross(own[(c + own.size() - 1) % own.size()], next[c]);
      }
      continue;
    }
    for (size_t j = 0; j < devices.size(); ++j) {
      for (const int from : i == j ? std::vector<int>() : own) {
        for (const int to : devices[j]) cross(from, to);
      }
    }
  }
  return least;
}

std::vector<int> GroupFabrics::DevicesOf(const DomainRanks& ranks) const {
  std::vector<int> devices;
  for (const NodeRanks& on_node : ranks.nodes) {
    const int first = cluster_.first_device(on_node.node);
    for (const int local : on_node.locals) devices.push_back(first + local);
  }
  return devices;
}

void GroupFabrics::TakeSlowLinks(const std::vector<DomainRanks>& domains, Traffic traffic,
                                 Fabric* fabric) const {
  for (const DomainRanks& ranks : domains) {
    if (ranks.count < 2) continue;
    const Link intra = IntraLink(ranks);
    const Bandwidth left = IntraRate(ranks, intra) * intra.bandwidth;
    fabric->intra_rate =
        std::min(fabric->intra_rate, left.bytes_per_s() / fabric->intra.bandwidth.bytes_per_s());
  }
  if (fabric->nodes > 1) fabric->inter_rate = InterRate(domains, traffic, fabric->inter);
}

}  // namespace stagecraft
