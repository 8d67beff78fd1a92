#include "sim/engine/traffic_binding.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/collective_method.h"
#include "costmodel/gradient_sync.h"
#include "sim/network/channel_patterns.h"
#include "sim/network/sync_channels.h"

namespace stagecraft {
namespace {

class Binder {
 public:
  // `symmetry` is null unless the schedule is that of its representatives.
  Binder(const Schedule& schedule, const Cluster& cluster, const BoundCosts& costs,
         const ReplicaSymmetry* symmetry)
      : schedule_(schedule),
        cluster_(cluster),
        costs_(costs),
        symmetry_(symmetry),
        links_(cluster.link_count(), -1) {}

  // Returns null if not all messages have representatives.
  std::unique_ptr<TaskTraffic> Run() {
    if (symmetry_ == nullptr) AddLinks();
    if (symmetry_ != nullptr && !GroupsAreImages()) return nullptr;
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      const OpSequenceId op_sequence = schedule_.op_sequence(task);
      if (schedule_.communicator(task) < 0 || op_sequence < 0) continue;
      const auto [entry, is_new] =
          sequences_.try_emplace({schedule_.communicator(task), op_sequence}, -1);
      if (is_new) entry->second = AddSequence(task);
      if (entry->second >= 0) traffic_->Bind(task, entry->second);
    }
    return has_all_ ? std::move(traffic_) : nullptr;
  }

  // By link of the cluster: its number in the network.
  const std::vector<LinkId>& links() const { return links_; }

 private:
  void AddLinks() {
    for (int link = 0; link < cluster_.link_count(); ++link) LinkOf(link);
  }

  LinkId LinkOf(int link) {
    LinkId& id = links_[link];
    if (id < 0) {
      const Bandwidth bandwidth = cluster_.link_rate(link) * cluster_.link(link).bandwidth;
      id = traffic_->network().AddLink(bandwidth, Duration());
    }
    return id;
  }

  // Whether the shift turns all groups of tasks of all replicas round, and moves all groups of
  // other tasks away.
  bool GroupsAreImages() const {
    std::vector<bool> seen[2];
    for (std::vector<bool>& of : seen) of.resize(schedule_.communicators().size());
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      const int32_t communicator = schedule_.communicator(task);
      if (communicator < 0 || seen[symmetry_->is_of_all[task]][communicator]) continue;
      seen[symmetry_->is_of_all[task]][communicator] = true;
      for (const std::vector<int32_t>& group : schedule_.communicators()[communicator]) {
        const bool is_image = symmetry_->is_of_all[task] ? TurnsRound(group) : MovesAway(group);
        if (!is_image) return false;
      }
    }
    return true;
  }

  bool TurnsRound(const std::vector<int32_t>& group) const {
    return group.size() % symmetry_->images == 0 &&
           symmetry_->Turns(group, group.size() / symmetry_->images);
  }

  bool MovesAway(const std::vector<int32_t>& group) const {
    return std::all_of(group.begin(), group.end(), [&](int32_t device) {
      const int next = symmetry_->next_device[device];
      return std::find(group.begin(), group.end(), next) == group.end();
    });
  }

  RouteId RouteOf(int from, int to) {
    const auto [entry, is_new] = routes_.try_emplace({from, to}, 0);
    if (is_new) {
      std::vector<int> links = cluster_.FindRoute(from, to).links;
      for (int& link : links) {
        link = LinkOf(symmetry_ == nullptr ? link : symmetry_->link_like[link]);
      }
      entry->second = traffic_->network().AddRoute(links);
      std::sort(links.begin(), links.end());
      // If one link stands for two of the route, a flow would share it with its own image.
      if (std::adjacent_find(links.begin(), links.end()) != links.end()) has_all_ = false;
    }
    return entry->second;
  }

  // Adds the ops of a task one after another, and those side by side that overlap the next one.
  // Returns -1 if none of them is bound.
  int32_t AddSequence(TaskId task) {
    const auto ops = schedule_.ops(schedule_.op_sequence(task));
    const auto flags = schedule_.flags(schedule_.op_sequence(task));
    std::vector<int32_t> exchanges;
    bool sends = false;
    for (size_t first = 0, end = 0; first < ops.size(); first = end) {
      while (end + 1 < ops.size() && (flags[end] & kOverlapsNext) != 0) ++end;
      ++end;
      const auto beside = ops.subspan(first, end - first);
      const auto [entry, is_new] = exchanges_.try_emplace(
          {schedule_.communicator(task), {beside.begin(), beside.end()}}, Added());
      if (is_new) entry->second = AddExchange(task, beside);
      if (entry->second.exchange >= 0) exchanges.push_back(entry->second.exchange);
      sends = sends || entry->second.sends;
    }
    return sends ? traffic_->AddSequence(std::move(exchanges)) : -1;
  }

  struct Added {
    int32_t exchange = -1;  // -1 if it takes no time
    bool sends = false;     // whether any of its ops is bound
  };

  Added AddExchange(TaskId task, std::span<const OpId> ops) {
    Exchange exchange;
    for (const OpId op : ops) {
      const size_t parts = exchange.parts.size();
      if (IsSent(task, op)) AddParts(task, op, exchange);
      const bool is_bound = exchange.parts.size() > parts;
      if (!is_bound) exchange.least = std::max(exchange.least, costs_.OpTime(schedule_, task, op));
    }
    const bool sends = !exchange.parts.empty();
    if (!sends && exchange.least == Duration()) return {};
    return {traffic_->AddExchange(std::move(exchange)), sends};
  }

  // Returns whether the messages of an op may be flows between the devices of the task's
  // communicator. What follows a message runs among the ranks that receive it.
  bool IsSent(TaskId task, OpId id) const {
    const Op& op = schedule_.op(id);
    if (op.fabric.ranks < 2 || op.bytes <= Bytes(0)) return false;
    const Op& first = schedule_.op(schedule_.ops(schedule_.op_sequence(task))[0]);
    if (first.kind == OpKind::kSendRecv && op.kind != OpKind::kSendRecv) return false;
    return costs_.MethodOf(schedule_, task, id).algorithm != Algorithm::kNvls;
  }

  // Adds nothing if no link decides the time of the op.
  void AddParts(TaskId task, OpId id, Exchange& exchange) {
    const Op& op = schedule_.op(id);
    const CollectiveMethod& method = costs_.MethodOf(schedule_, task, id);
    const DeviceGroups& groups = schedule_.communicators()[schedule_.communicator(task)];
    if (!IsNccl(op.sync.method)) CountFlows(op, std::ssize(groups));
    const Duration sending =
        BusiestLinkTime(op, method.algorithm) + SlowLinkTime(op, method.algorithm);
    const Duration latency = std::max(Duration(), costs_.OpTime(schedule_, task, id) - sending);
    for (const std::vector<int32_t>& group : groups) {
      const std::span<const int32_t> ranks(group.data(), group.size() - op.sync.servers);
      const bool by_nodes = IsNccl(op.sync.method);
      if (ByNode(group, by_nodes).size() == 1 && StaysOnDirectLinks(op, group)) continue;
      const std::vector<std::vector<int>> by_node = ByNode(ranks, by_nodes);
      const std::span<const int32_t> servers(group.data() + ranks.size(), op.sync.servers);
      ChannelPattern channel =
          IsOfAll(task) ? PartOfRings(op, method.algorithm, by_node)
          : IsNccl(op.sync.method)
              ? MakeChannels(op.kind, method.algorithm, op.bytes, by_node, kMostRingMessages)
              : MakeSyncChannels(op, by_node, servers);
      Exchange::Part part;
      for (const MessagePair& pair : channel.pattern.pairs()) {
        part.routes.push_back(RouteOf(channel.devices[pair.from], channel.devices[pair.to]));
      }
      part.limits.delay = Duration::Nanoseconds(latency.ns() / channel.steps);
      part.pattern = std::move(channel.pattern);
      exchange.parts.push_back(std::move(part));
    }
  }

  bool IsOfAll(TaskId task) const { return symmetry_ != nullptr && symmetry_->is_of_all[task]; }

  // Returns what the representatives send in rings through all replicas.
  ChannelPattern PartOfRings(const Op& op, Algorithm algorithm,
                             const std::vector<std::vector<int>>& by_node) {
    const size_t period = by_node.size() / symmetry_->images;
    bool is_periodic = by_node.size() % symmetry_->images == 0 && IsNccl(op.sync.method) &&
                       IsRing(op.kind, algorithm);
    for (size_t i = 0; i < by_node.size() && is_periodic; ++i) {
      const std::vector<int>& next = by_node[(i + period) % by_node.size()];
      is_periodic = next.size() == by_node[i].size();
      for (size_t j = 0; j < next.size() && is_periodic; ++j) {
        is_periodic = symmetry_->next_device[by_node[i][j]] == next[j];
      }
    }
    has_all_ = has_all_ && is_periodic;
    if (!is_periodic) return {};
    return MakePeriodOfRings(op.kind, op.bytes, by_node, static_cast<int>(period),
                             kMostRingMessages);
  }

  void CountFlows(const Op& op, int64_t groups) {
    flows_ += groups * CountSyncFlows(op);
    if (flows_ <= kMostSyncFlows) return;
    throw InputError(fmt::format(
        "--network: got flow with {} among {} ranks, which takes more than {} flows; want model, "
        "or fewer buckets or ranks",
        Name(op.sync.method), op.fabric.ranks, kMostSyncFlows));
  }

  // Returns the devices of each node, or of each scale-up domain, both in the order of the group.
  std::vector<std::vector<int>> ByNode(std::span<const int32_t> group, bool is_by_node) const {
    std::vector<std::vector<int>> nodes;
    std::map<int, size_t> place;
    for (const int32_t device : group) {
      const int node = cluster_.place(device).node;
      const int key = is_by_node ? node : cluster_.domain(node);
      const auto [entry, is_new] = place.try_emplace(key, nodes.size());
      if (is_new) nodes.emplace_back();
      nodes[entry->second].push_back(device);
    }
    return nodes;
  }

  // Returns whether a group of one node exchanges everything over direct links: every pair has one,
  // or NCCL finds rings of them, which the cluster then describes, and avoids the links that join
  // the other pairs.
  bool StaysOnDirectLinks(const Op& op, const std::vector<int32_t>& group) const {
    bool has_direct = false, has_indirect = false;
    LinkKind indirect = LinkKind::kPcie;
    for (const int32_t from : group) {
      for (const int32_t to : group) {
        if (from == to) continue;
        const Route route = cluster_.FindRoute(from, to);
        const bool is_direct = route.links.size() == 1;
        has_direct = has_direct || is_direct;
        has_indirect = has_indirect || !is_direct;
        if (!is_direct) indirect = route.narrowest.kind;
      }
    }
    if (!has_indirect) return true;
    if (!has_direct || !IsNccl(op.sync.method)) return false;
    return cluster_.DescribeGroup(group).intra.kind != indirect;
  }

  const Schedule& schedule_;
  const Cluster& cluster_;
  const BoundCosts& costs_;
  const ReplicaSymmetry* const symmetry_;
  std::vector<LinkId> links_;
  bool has_all_ = true;  // whether all messages so far have representatives
  int64_t flows_ = 0;    // of synchronisation other than NCCL's
  std::unique_ptr<TaskTraffic> traffic_ = std::make_unique<TaskTraffic>();
  std::map<std::pair<int, int>, RouteId> routes_;  // by device from, to
  // Keys are a communicator, and ops that run side by side or an op sequence.
  std::map<std::pair<int32_t, std::vector<OpId>>, Added> exchanges_;
  std::map<std::pair<int32_t, OpSequenceId>, int32_t> sequences_;
};

}  // namespace

std::unique_ptr<TaskTraffic> BindTraffic(const Schedule& schedule, const Cluster& cluster,
                                         const BoundCosts& costs) {
  return Binder(schedule, cluster, costs, nullptr).Run();
}

RepresentedTraffic BindRepresentatives(const ReplicaSymmetry& symmetry, const Cluster& cluster,
                                       const BoundCosts& costs) {
  Binder binder(symmetry.representatives, cluster, costs, &symmetry);
  RepresentedTraffic represented;
  represented.traffic = binder.Run();
  for (const int like : symmetry.link_like) represented.links.push_back(binder.links()[like]);
  return represented;
}

}  // namespace stagecraft
