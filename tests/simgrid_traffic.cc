#include "tests/simgrid_traffic.h"

#include <ctime>
#include <memory>
#include <simgrid/s4u.hpp>
#include <string>

namespace stagecraft {
namespace {

namespace s4u = simgrid::s4u;

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// SimGrid's bound for a TCP window over a latency. 0 means no bound, but also switches off the caps
// of flows; the other value is so large that it never binds.
const char kNoGamma[] = "0";
const char kGammaBesideCaps[] = "1e30";

// A platform of hosts h0, h1, ... whose routes are those of the traffic.
class Platform {
 public:
  Platform(const TrafficNetwork& network, const std::string& gamma) {
    arguments_.push_back("--cfg=network/TCP-gamma:" + gamma);
    int count = static_cast<int>(arguments_.size());
    std::vector<char*> values;
    for (std::string& argument : arguments_) values.push_back(argument.data());
    engine_ = std::make_unique<s4u::Engine>(&count, values.data());
    s4u::NetZone* zone = s4u::create_full_zone("zone");
    for (int host = 0; host < network.hosts; ++host) {
      hosts_.push_back(zone->create_host("h" + std::to_string(host), 1e9));
    }
    for (size_t link = 0; link < network.links.size(); ++link) {
      const TrafficLink& spec = network.links[link];
      links_.push_back(zone->create_link("l" + std::to_string(link), spec.bandwidth.bytes_per_s())
                           ->set_latency(spec.latency.seconds()));
    }
    for (const TrafficRoute& route : network.routes) {
      std::vector<s4u::LinkInRoute> hops;
      for (const int link : route.links) hops.emplace_back(links_[link]);
      zone->add_route(hosts_[route.from]->get_netpoint(), hosts_[route.to]->get_netpoint(), nullptr,
                      nullptr, hops, false);
    }
    zone->seal();
  }

  s4u::Host* host(int index) const { return hosts_[index]; }
  s4u::Link* link(int index) const { return links_[index]; }

  SimgridRun Run() {
    const double begin = CpuSeconds();
    engine_->run();
    return {s4u::Engine::get_clock(), CpuSeconds() - begin};
  }

 private:
  std::vector<std::string> arguments_ = {
      "stagecraft",
      "--cfg=network/model:CM02",
      "--cfg=network/crosstraffic:0",
      "--cfg=network/latency-factor:1",
      "--cfg=network/bandwidth-factor:1",
      "--cfg=network/weight-S:0",
      "--log=root.thres:error",
  };
  std::unique_ptr<s4u::Engine> engine_;
  std::vector<s4u::Host*> hosts_;
  std::vector<s4u::Link*> links_;
};

char payload;  // every message points to it, and it is never read

void ActAsRank(const std::string& own, const std::string& next, int messages, double bytes) {
  s4u::Mailbox* in = s4u::Mailbox::by_name(own);
  s4u::Mailbox* out = s4u::Mailbox::by_name(next);
  for (int k = 0; k < messages; ++k) {
    const s4u::CommPtr sent = out->put_async(&payload, bytes);
    in->get<char>();
    sent->wait();
  }
}

void ActAsStage(const PipelineTraffic& traffic, int stage) {
  const auto mailbox = [](const char* kind, int of) {
    return s4u::Mailbox::by_name(kind + std::to_string(of));
  };
  const double bytes = static_cast<double>(traffic.message.count());
  const int last = static_cast<int>(traffic.orders.size()) - 1;
  s4u::Mailbox* from_previous = mailbox("forward", stage);
  s4u::Mailbox* from_next = mailbox("backward", stage);
  s4u::Mailbox* to_next = mailbox("forward", stage + 1);
  s4u::Mailbox* to_previous = mailbox("backward", stage - 1);
  for (size_t i = 0; i < traffic.orders[stage].size(); ++i) {
    const bool is_forward = traffic.orders[stage][i].phase == Phase::kForward;
    if (is_forward && stage > 0) from_previous->get<char>();
    if (!is_forward && stage < last) from_next->get<char>();
    s4u::this_actor::sleep_for(traffic.durations[stage][i].seconds());
    if (is_forward && stage < last) to_next->put_init(&payload, bytes)->detach();
    if (!is_forward && stage > 0) to_previous->put_init(&payload, bytes)->detach();
  }
}

}  // namespace

SimgridRun RunOnSimgrid(const RingTraffic& traffic) {
  Platform platform(traffic.network, kNoGamma);
  const double bytes = static_cast<double>(traffic.bytes.count()) / traffic.ranks;
  const int messages = 2 * (traffic.ranks - 1);
  for (const TrafficRoute& route : traffic.network.routes) {
    s4u::Actor::create("rank", platform.host(route.from), ActAsRank, std::to_string(route.from),
                       std::to_string(route.to), messages, bytes);
  }
  return platform.Run();
}

SimgridRun RunOnSimgrid(const PipelineTraffic& traffic) {
  Platform platform(traffic.network, kNoGamma);
  for (int stage = 0; stage < traffic.network.hosts; ++stage) {
    const s4u::ActorPtr actor = s4u::Actor::create(
        "stage", platform.host(stage), [&traffic, stage] { ActAsStage(traffic, stage); });
    // A mailbox with a receiver accepts messages before the receiver asks for them.
    s4u::Mailbox::by_name("forward" + std::to_string(stage))->set_receiver(actor);
    s4u::Mailbox::by_name("backward" + std::to_string(stage))->set_receiver(actor);
  }
  return platform.Run();
}

std::vector<double> RunOnSimgrid(const TrafficNetwork& network,
                                 const std::vector<TrafficFlow>& flows,
                                 const std::vector<TrafficChange>& changes) {
  Platform platform(network, kGammaBesideCaps);
  std::vector<double> ends(flows.size(), 0);
  for (size_t i = 0; i < flows.size(); ++i) {
    const TrafficFlow& flow = flows[i];
    const TrafficRoute& route = network.routes[flow.route];
    s4u::Host* from = platform.host(route.from);
    s4u::Host* to = platform.host(route.to);
    s4u::Mailbox* mailbox = s4u::Mailbox::by_name("flow" + std::to_string(i));
    s4u::Actor::create("receiver", to, [mailbox] { mailbox->get<char>(); });
    s4u::Actor::create("sender", from, [&flow, &ends, i, mailbox] {
      s4u::this_actor::sleep_until(flow.start.seconds());
      const s4u::CommPtr message = mailbox->put_init(&payload, static_cast<uint64_t>(flow.bytes));
      if (flow.cap > Bandwidth()) message->set_rate(flow.cap.bytes_per_s());
      message->wait();
      ends[i] = s4u::Engine::get_clock();
    });
  }
  for (const TrafficChange& change : changes) {
    s4u::Link* link = platform.link(change.link);
    s4u::Actor::create("change", platform.host(0), [&change, link] {
      s4u::this_actor::sleep_until(change.time.seconds());
      link->set_bandwidth(change.bandwidth.bytes_per_s());
    });
  }
  platform.Run();
  return ends;
}

}  // namespace stagecraft
