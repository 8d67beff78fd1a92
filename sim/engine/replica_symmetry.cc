#include "sim/engine/replica_symmetry.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "sim/cluster/alike_nodes.h"

namespace stagecraft {
namespace {

// Shifts by more replicas than this are not tried, nor more shifts than this that map nodes to
// nodes.
constexpr int kLongestShift = 64;
constexpr int kMostTries = 4;

// The ranks of a schedule by stage, replica, and place in the replica. Empty if stages do not all
// have equally many replicas of equally many ranks, or a rank stands for others.
using RankTable = std::vector<std::vector<std::vector<int32_t>>>;

RankTable TabulateRanks(const Schedule& schedule) {
  RankTable table;
  for (size_t rank = 0; rank < schedule.ranks().size(); ++rank) {
    const RankInfo& info = schedule.ranks()[rank];
    if (info.multiplicity != 1 || info.stage < 0 || info.replica < 0) return {};
    if (info.stage >= std::ssize(table)) table.resize(info.stage + 1);
    auto& replicas = table[info.stage];
    if (info.replica >= std::ssize(replicas)) replicas.resize(info.replica + 1);
    replicas[info.replica].push_back(static_cast<int32_t>(rank));
  }
  for (const auto& replicas : table) {
    if (replicas.size() != table[0].size()) return {};
    for (const auto& ranks : replicas) {
      if (ranks.size() != replicas[0].size() || ranks.empty()) return {};
    }
  }
  return table;
}

// A map of some numbers to others, one to one; -1: not mapped yet.
class Pairing {
 public:
  explicit Pairing(int count) : to_(count, -1), from_(count, -1) {}
  // Returns whether it can map `from` to `to`.
  bool Add(int from, int to) {
    if (to_[from] < 0 && from_[to] < 0) {
      to_[from] = to;
      from_[to] = from;
    }
    return to_[from] == to && from_[to] == from;
  }
  int Of(int from) const { return to_[from]; }

 private:
  std::vector<int> to_, from_;
};

// One shift of the replicas of a schedule.
class Shift {
 public:
  Shift(const Schedule& schedule, const Cluster& cluster, const RankTable& ranks, int by)
      : schedule_(schedule),
        cluster_(cluster),
        ranks_(ranks),
        by_(by),
        replicas_(static_cast<int>(ranks[0].size())),
        nodes_(cluster.node_count()) {}

  // Whether it maps nodes to nodes of the same type, and domains of nodes to domains.
  bool MapsNodes() {
    Pairing domains(cluster_.domain(cluster_.node_count() - 1) + 1);
    next_device_.resize(cluster_.device_count());
    std::iota(next_device_.begin(), next_device_.end(), 0);
    next_rank_.resize(schedule_.ranks().size());
    for (const auto& replicas : ranks_) {
      for (int r = 0; r < replicas_; ++r) {
        const auto& to = replicas[(r + by_) % replicas_];
        for (size_t i = 0; i < to.size(); ++i) {
          next_rank_[replicas[r][i]] = to[i];
          if (!MapDevice(DeviceOf(replicas[r][i]), DeviceOf(to[i]), domains)) return false;
        }
      }
    }
    return true;
  }

  // Whether it maps the schedule to itself. Precondition: MapsNodes().
  bool MapsTasks() {
    return MapLanes() && TakeTasks() && KeepsTasks() && KeepsDependencies() && StayTogether();
  }

  // Precondition: MapsTasks().
  ReplicaSymmetry Make() {
    ReplicaSymmetry symmetry;
    symmetry.images = replicas_ / by_;
    symmetry.next_device = next_device_;
    TakeRepresentatives(symmetry);
    for (size_t i = 0; i < symmetry.task_of.size(); ++i) {
      TaskId task = symmetry.task_of[i];
      do {
        symmetry.like[task] = static_cast<TaskId>(i);
        task = next_task_[task];
      } while (task != symmetry.task_of[i]);
    }
    TakeLinks(symmetry);
    return symmetry;
  }

 private:
  int DeviceOf(int32_t rank) const { return schedule_.ranks()[rank].device; }
  bool IsFirst(int32_t rank) const { return schedule_.ranks()[rank].replica < by_; }
  int32_t RankOfLane(Lane lane) const { return schedule_.lane_infos()[Index(lane)].rank; }

  bool MapDevice(int from, int to, Pairing& domains) {
    const DevicePlace x = cluster_.place(from), y = cluster_.place(to);
    next_device_[from] = to;
    return x.local == y.local && cluster_.device_group(from) == cluster_.device_group(to) &&
           nodes_.Add(x.node, y.node) &&
           domains.Add(cluster_.domain(x.node), cluster_.domain(y.node));
  }

  // Maps each lane to the one with the same place among those of the shifted rank.
  bool MapLanes() {
    std::vector<std::vector<int32_t>> lanes(schedule_.ranks().size());
    for (int32_t lane = 0; lane < schedule_.lane_count(); ++lane) {
      if (RankOfLane(Lane(lane)) < 0) return false;
      lanes[RankOfLane(Lane(lane))].push_back(lane);
    }
    next_lane_.resize(schedule_.lane_count());
    for (size_t rank = 0; rank < lanes.size(); ++rank) {
      const auto& to = lanes[next_rank_[rank]];
      if (to.size() != lanes[rank].size()) return false;
      for (size_t i = 0; i < to.size(); ++i) {
        const int32_t lane = lanes[rank][i];
        if (schedule_.lane_infos()[lane].kind != schedule_.lane_infos()[to[i]].kind) return false;
        if (schedule_.order(Lane(lane)).size() != schedule_.order(Lane(to[i])).size()) return false;
        next_lane_[lane] = to[i];
      }
    }
    return true;
  }

  // Maps each task to the one with the same place on the shifted lane.
  bool TakeTasks() {
    next_task_.assign(schedule_.task_count(), -1);
    for (int32_t lane = 0; lane < schedule_.lane_count(); ++lane) {
      const auto order = schedule_.order(Lane(lane));
      const auto to = schedule_.order(Lane(next_lane_[lane]));
      for (size_t i = 0; i < order.size(); ++i) {
        if (next_task_[order[i]] < 0) next_task_[order[i]] = to[i];
        if (next_task_[order[i]] != to[i]) return false;
      }
    }
    return std::find(next_task_.begin(), next_task_.end(), -1) == next_task_.end();
  }

  // Whether images run the same ops on equally many lanes, in shifted groups.
  bool KeepsTasks() {
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      const TaskId next = next_task_[task];
      if (schedule_.op_sequence(task) != schedule_.op_sequence(next) ||
          schedule_.tag(task).phase != schedule_.tag(next).phase ||
          schedule_.lanes(task).size() != schedule_.lanes(next).size() ||
          schedule_.predecessor_count(task) != schedule_.predecessor_count(next) ||
          !KeepsGroups(schedule_.communicator(task), schedule_.communicator(next))) {
        return false;
      }
    }
    return true;
  }

  // Whether the shift maps the groups of a communicator to those of another one, in the same order:
  // a list that begins elsewhere may make other messages. The shift may turn groups that it maps to
  // themselves; BindRepresentatives() finds out whether their messages stay the same.
  bool KeepsGroups(int32_t from, int32_t to) {
    if (from < 0 || to < 0) return from == to;
    const auto [entry, is_new] = groups_.try_emplace({from, to}, false);
    if (!is_new) return entry->second;
    const DeviceGroups& olds = schedule_.communicators()[from];
    const DeviceGroups& news = schedule_.communicators()[to];
    if (olds.size() != news.size()) return false;
    for (size_t g = 0; g < olds.size(); ++g) {
      if (!IsImage(olds[g], news[g], from == to)) return false;
    }
    return entry->second = true;
  }

  bool IsImage(const std::vector<int32_t>& from, const std::vector<int32_t>& to,
               bool may_turn) const {
    if (from.size() != to.size()) return false;
    const auto first = std::find(to.begin(), to.end(), next_device_[from[0]]);
    if (first == to.end() || (first != to.begin() && !may_turn)) return false;
    const size_t turn = static_cast<size_t>(first - to.begin());
    for (size_t i = 0; i < from.size(); ++i) {
      if (next_device_[from[i]] != to[(i + turn) % to.size()]) return false;
    }
    return true;
  }

  bool KeepsDependencies() {
    std::vector<TaskId> from, to;
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      from.clear();
      for (const TaskId next : schedule_.successors(task)) from.push_back(next_task_[next]);
      const auto others = schedule_.successors(next_task_[task]);
      to.assign(others.begin(), others.end());
      std::sort(from.begin(), from.end());
      std::sort(to.begin(), to.end());
      if (from != to) return false;
    }
    return true;
  }

  // Whether every task either belongs to all replicas, so that it is its own image, or to a single
  // block of `by_` consecutive replicas, and no task of one block depends on a task of another.
  bool StayTogether() const {
    std::vector<int> blocks(schedule_.task_count(), -1);  // of replicas; -1: the task is of all
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      if (next_task_[task] == task) continue;
      for (const Lane lane : schedule_.lanes(task)) {
        const int own = schedule_.ranks()[RankOfLane(lane)].replica / by_;
        if (blocks[task] >= 0 && own != blocks[task]) return false;
        blocks[task] = own;
      }
    }
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      for (const TaskId next : schedule_.successors(task)) {
        if (blocks[task] >= 0 && blocks[next] >= 0 && blocks[task] != blocks[next]) return false;
      }
    }
    return true;
  }

  void TakeRepresentatives(ReplicaSymmetry& symmetry) {
    Schedule::Builder builder;
    const std::vector<Lane> lanes = AddRanksAndLanes(builder, symmetry);
    for (const Op& op : schedule_.distinct_ops()) builder.AddOp(op);
    for (OpSequenceId id = 0; id < schedule_.op_sequence_count(); ++id) {
      builder.AddOpSequence(schedule_.ops(id), schedule_.flags(id));
    }
    for (const DeviceGroups& groups : schedule_.communicators()) builder.AddCommunicator(groups);
    symmetry.like.assign(schedule_.task_count(), -1);
    std::vector<Lane> own;
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      own.clear();
      for (const Lane lane : schedule_.lanes(task)) {
        if (IsFirst(RankOfLane(lane))) own.push_back(lanes[Index(lane)]);
      }
      if (own.empty()) continue;
      symmetry.like[task] = builder.Add(own, {}, schedule_.op_sequence(task), schedule_.tag(task));
      symmetry.task_of.push_back(task);
      symmetry.is_of_all.push_back(next_task_[task] == task);
      const int32_t communicator = schedule_.communicator(task);
      if (communicator >= 0) builder.SetCommunicator(symmetry.like[task], communicator);
    }
    for (const TaskId task : symmetry.task_of) {
      for (const TaskId next : schedule_.successors(task)) {
        if (symmetry.like[next] < 0) continue;
        builder.AddDependency(symmetry.like[task], symmetry.like[next]);
      }
    }
    symmetry.representatives = builder.Build();
  }

  // Returns the new lanes by the old ones.
  std::vector<Lane> AddRanksAndLanes(Schedule::Builder& builder, ReplicaSymmetry& symmetry) const {
    std::vector<int32_t> rank_of(schedule_.ranks().size(), -1);
    for (size_t rank = 0; rank < rank_of.size(); ++rank) {
      if (!IsFirst(static_cast<int32_t>(rank))) continue;
      rank_of[rank] = builder.AddRank(schedule_.ranks()[rank]);
      symmetry.rank_of.push_back(static_cast<int32_t>(rank));
    }
    std::vector<Lane> lanes(schedule_.lane_count(), Lane(-1));
    for (int32_t lane = 0; lane < schedule_.lane_count(); ++lane) {
      LaneInfo info = schedule_.lane_infos()[lane];
      info.rank = rank_of[info.rank];
      if (info.rank >= 0) lanes[lane] = builder.AddLane(info);
    }
    return lanes;
  }

  // The links of a node follow each other, node by node.
  void TakeLinks(ReplicaSymmetry& symmetry) const {
    std::vector<int> first_link;  // by node
    int links = 0;
    for (int node = 0; node < cluster_.node_count(); ++node) {
      first_link.push_back(links);
      links += static_cast<int>(cluster_.wiring(node).cables().size());
    }
    symmetry.link_like.resize(cluster_.link_count());
    std::iota(symmetry.link_like.begin(), symmetry.link_like.end(), 0);
    std::vector<bool> seen(cluster_.node_count(), false);
    for (int node = 0; node < cluster_.node_count(); ++node) {
      for (int other = node; other >= 0 && !seen[other]; other = nodes_.Of(other)) {
        seen[other] = true;
        const int count = static_cast<int>(cluster_.wiring(node).cables().size());
        std::iota(symmetry.link_like.begin() + first_link[other],
                  symmetry.link_like.begin() + first_link[other] + count, first_link[node]);
      }
    }
  }

  const Schedule& schedule_;
  const Cluster& cluster_;
  const RankTable& ranks_;  // by stage, replica, place
  const int by_, replicas_;
  Pairing nodes_;
  std::vector<int> next_device_;
  std::vector<int32_t> next_rank_, next_lane_;
  std::vector<TaskId> next_task_;
  std::map<std::pair<int32_t, int32_t>, bool> groups_;  // by communicators
};

}  // namespace

bool ReplicaSymmetry::Turns(const std::vector<int32_t>& group, size_t turn) const {
  for (size_t i = 0; i < group.size(); ++i) {
    if (next_device[group[i]] != group[(i + turn) % group.size()]) return false;
  }
  return true;
}

std::vector<Duration> ReplicaSymmetry::ForAll(std::span<const Duration> of_representatives) const {
  std::vector<Duration> of_all(like.size());
  for (size_t task = 0; task < like.size(); ++task) of_all[task] = of_representatives[like[task]];
  return of_all;
}

Timeline ReplicaSymmetry::ForAll(const Timeline& of_representatives) const {
  std::vector<Duration> start(like.size()), end(like.size());
  for (size_t task = 0; task < like.size(); ++task) {
    start[task] = of_representatives.start(like[task]);
    end[task] = of_representatives.end(like[task]);
  }
  return Timeline(std::move(start), std::move(end));
}

std::optional<ReplicaSymmetry> FindReplicaSymmetry(const Schedule& schedule,
                                                   const Cluster& cluster) {
  if (!NodesAreAlike(cluster)) return std::nullopt;
  const RankTable ranks = TabulateRanks(schedule);
  if (ranks.empty()) return std::nullopt;
  const int replicas = static_cast<int>(ranks[0].size());
  int tries = 0;
  for (int by = 1; by <= std::min(kLongestShift, replicas / 2) && tries < kMostTries; ++by) {
    if (replicas % by != 0) continue;
    Shift shift(schedule, cluster, ranks, by);
    if (!shift.MapsNodes()) continue;
    ++tries;
    if (shift.MapsTasks()) return shift.Make();
  }
  return std::nullopt;
}

}  // namespace stagecraft
