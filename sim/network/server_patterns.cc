// Patterns in which some participants sum up for others.
#include <algorithm>
#include <array>
#include <cmath>

#include "costmodel/check.h"
#include "costmodel/sync_time.h"
#include "sim/network/collective_patterns.h"
#include "sim/network/pattern_parts.h"

namespace stagecraft {
namespace {

// Connects every worker with every server, both ways.
void AddServers(int workers, int servers, double bytes, int flows, int32_t counter,
                MessagePattern* pattern) {
  for (int worker = 0; worker < workers; ++worker) {
    for (int server = workers; server < workers + servers; ++server) {
      AddFlows({worker, server}, bytes, flows, counter, {}, pattern);
      AddFlows({server, worker}, bytes, flows, counter, {}, pattern);
    }
  }
}

}  // namespace

MessagePattern SumByOwners(int workers, std::span<const double> owned) {
  MessagePattern pattern;
  const int owners = static_cast<int>(owned.size());
  const int32_t pushed = pattern.AddCounters(owners);
  const int32_t answered = pattern.AddCounters(1);
  for (int owner = 0; owner < owners; ++owner) {
    if (owned[owner] <= 0) continue;
    const int pushes = owner < workers ? workers - 1 : workers;
    const std::array needs{MessageNeed{pushed + owner, 0, 0, pushes}};
    for (int worker = 0; worker < workers; ++worker) {
      if (worker == owner) continue;
      AddFlows({worker, owner}, owned[owner], 1, pushed + owner, {}, &pattern);
      AddFlows({owner, worker}, owned[owner], 1, answered, needs, &pattern);
    }
  }
  return pattern;
}

MessagePattern ReductionServers(int workers, int servers, Bytes bytes) {
  CHECK(servers >= 1);
  MessagePattern pattern;
  const int32_t counter = pattern.AddCounters(1);
  AddServers(workers, servers, static_cast<double>(bytes.count()) / servers, 1, counter, &pattern);
  return pattern;
}

MessagePattern BytePs(int workers, int servers, Bytes bytes) {
  MessagePattern pattern;
  const int32_t counter = pattern.AddCounters(1);
  const SummedParts parts = BytePsParts(workers, servers);
  const double all = static_cast<double>(bytes.count());
  // A rank sends another rank what that one sums up, and the sum of what it sums up itself.
  const double to_peer = 2 * parts.rank * all;
  const double to_server = parts.server * all;
  const int server_flows = std::min(workers - 1, kMostFlowsOfPair);
  const int peer_flows =
      servers == 0 ? 1
                   : std::max(1, static_cast<int>(std::lround(server_flows * to_peer / to_server)));
  for (int from = 0; from < workers && to_peer > 0; ++from) {
    for (int to = 0; to < workers; ++to) {
      if (to != from) AddFlows({from, to}, to_peer, peer_flows, counter, {}, &pattern);
    }
  }
  if (servers > 0) AddServers(workers, servers, to_server, server_flows, counter, &pattern);
  return pattern;
}

}  // namespace stagecraft
