// Tests the flow-level network against SimGrid, on random networks and flows.
//
// SimGrid weights shares by latency, as TCP does. If flows share links, the latency of a route is
// therefore given to it as a later start; if a flow is alone, as the latencies of the links.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/network/flow_network.h"
#include "tests/simgrid_traffic.h"
#include "tests/traffic.h"

namespace stagecraft {
namespace {

constexpr int kSharedCases = 200;
constexpr int kLoneCases = 20;       // with one flow after another
constexpr double kTolerance = 1e-3;  // relative to a flow's time from start to end

// All cases are side by side in one network, since SimGrid allows one per process.
struct Traffic {
  TrafficNetwork network;
  std::vector<TrafficFlow> flows;
  std::vector<TrafficChange> changes;
  std::vector<int> case_of_flow;
};

double LogUniform(double low, double high, Random* random) {
  const double u = random->Uniform();
  return low * std::pow(high / low, u);
}

void AddLinks(int count, Random* random, Traffic* traffic) {
  for (int link = 0; link < count; ++link) {
    const double bandwidth = LogUniform(1e9, 50e9, random);
    const Duration latency = Duration::Nanoseconds(random->Integer(0, 3000));
    traffic->network.links.push_back({Bandwidth(bandwidth), latency});
  }
}

// Adds a route between every two hosts: the sender's own link, and each inner link with some
// chance.
void AddRoutes(int first_host, int hosts, int first_link, int inner, Random* random,
               Traffic* traffic) {
  for (int from = 0; from < hosts; ++from) {
    for (int to = 0; to < hosts; ++to) {
      if (from == to) continue;
      TrafficRoute route{first_host + from, first_host + to, {first_link + from}};
      for (int link = 0; link < inner; ++link) {
        if (random->Integer(0, 3) == 0) route.links.push_back(first_link + hosts + link);
      }
      traffic->network.routes.push_back(route);
    }
  }
}

struct Case {
  int first_link;
  int links;
  int first_route;
  int routes;
};

void AddFlows(int index, const Case& added, Random* random, Traffic* traffic) {
  const int64_t flows = random->Integer(1, 60);
  for (int64_t i = 0; i < flows; ++i) {
    TrafficFlow flow;
    flow.route = added.first_route + static_cast<int>(random->Integer(0, added.routes - 1));
    const int64_t burst = random->Integer(0, 4);
    flow.start = Duration::Nanoseconds(burst * random->Integer(0, 2000000));
    if (index >= kSharedCases) flow.start = Duration::Nanoseconds(i * 2000000000);
    flow.bytes = std::floor(LogUniform(1e5, 1e8, random));
    if (random->Integer(0, 3) == 0) flow.cap = Bandwidth(LogUniform(1e8, 20e9, random));
    traffic->flows.push_back(flow);
    traffic->case_of_flow.push_back(index);
  }
}

// Makes links slower and slower, never faster, since SimGrid never gives a flow more than its links
// had when it started.
void AddChanges(const Case& added, Random* random, Traffic* traffic) {
  std::vector<double> rate(added.links, 1);  // over the link's first bandwidth
  const int64_t changes = random->Integer(1, 4);
  Duration time;
  for (int64_t i = 0; i < changes; ++i) {
    const int link = static_cast<int>(random->Integer(0, added.links - 1));
    time += Duration::Nanoseconds(random->Integer(0, 5000000));
    rate[link] *= 0.1 + 0.8 * random->Uniform();
    const Bandwidth first = traffic->network.links[added.first_link + link].bandwidth;
    traffic->changes.push_back({added.first_link + link, time, rate[link] * first});
  }
}

void AddCase(int index, Traffic* traffic) {
  Random random = Random(1).Child("network oracle", index);
  const int first_host = traffic->network.hosts;
  const int hosts = static_cast<int>(random.Integer(2, 8));
  const int inner = static_cast<int>(random.Integer(1, 8));
  const Case added{static_cast<int>(traffic->network.links.size()), hosts + inner,
                   static_cast<int>(traffic->network.routes.size()), hosts * (hosts - 1)};
  traffic->network.hosts += hosts;
  AddLinks(hosts + inner, &random, traffic);
  AddRoutes(first_host, hosts, added.first_link, inner, &random, traffic);
  AddFlows(index, added, &random, traffic);
  if (index < kSharedCases && index % 2 == 1) AddChanges(added, &random, traffic);
}

Traffic LatenciesAsLaterStarts(Traffic traffic) {
  for (size_t i = 0; i < traffic.flows.size(); ++i) {
    if (traffic.case_of_flow[i] >= kSharedCases) continue;
    for (const int link : traffic.network.routes[traffic.flows[i].route].links) {
      traffic.flows[i].start += traffic.network.links[link].latency;
    }
  }
  for (size_t i = 0; i < traffic.flows.size(); ++i) {
    if (traffic.case_of_flow[i] >= kSharedCases) continue;
    for (const int link : traffic.network.routes[traffic.flows[i].route].links) {
      traffic.network.links[link].latency = Duration();
    }
  }
  return traffic;
}

std::vector<double> RunHere(const Traffic& traffic) {
  FlowNetwork network;
  for (const TrafficLink& link : traffic.network.links) {
    network.AddLink(link.bandwidth, link.latency);
  }
  std::vector<RouteId> routes;
  for (const TrafficRoute& route : traffic.network.routes) {
    routes.push_back(network.AddRoute(route.links));
  }
  for (size_t i = 0; i < traffic.flows.size(); ++i) {
    const TrafficFlow& flow = traffic.flows[i];
    FlowLimits limits{flow.start};
    if (flow.cap > Bandwidth()) limits.cap = flow.cap;
    network.Start(routes[flow.route], flow.bytes, static_cast<int64_t>(i), limits);
  }
  std::vector<TrafficChange> changes = traffic.changes;
  std::stable_sort(changes.begin(), changes.end(),
                   [](const TrafficChange& a, const TrafficChange& b) { return a.time < b.time; });
  std::vector<double> ends(traffic.flows.size(), 0);
  size_t next_change = 0;
  for (;;) {
    const Duration change =
        next_change < changes.size() ? changes[next_change].time : Duration::Max();
    const Duration time = std::min(network.NextTime(), change);
    if (time == Duration::Max()) return ends;
    for (const int64_t flow : network.AdvanceTo(time)) ends[flow] = time.seconds();
    for (; next_change < changes.size() && changes[next_change].time == time; ++next_change) {
      network.SetCapacity(changes[next_change].link, changes[next_change].bandwidth);
    }
  }
}

TEST(NetworkOracleTest, FlowsEndWhenSimgridSaysTheyEnd) {
  Traffic traffic;
  for (int index = 0; index < kSharedCases + kLoneCases; ++index) AddCase(index, &traffic);
  const std::vector<double> here = RunHere(traffic);
  const Traffic delayed = LatenciesAsLaterStarts(traffic);
  const std::vector<double> simgrid = RunOnSimgrid(delayed.network, delayed.flows, delayed.changes);
  double worst = 0;
  for (size_t i = 0; i < here.size(); ++i) {
    const double start = delayed.flows[i].start.seconds();
    const double error = (here[i] - start) / (simgrid[i] - start) - 1;
    worst = std::max(worst, std::abs(error));
    EXPECT_LE(std::abs(error), kTolerance) << "case " << traffic.case_of_flow[i] << ", flow " << i;
  }
  std::printf("%zu flows, worst difference %.2g\n", here.size(), worst);
}

}  // namespace
}  // namespace stagecraft
