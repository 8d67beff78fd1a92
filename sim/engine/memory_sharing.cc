#include "sim/engine/memory_sharing.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stagecraft {
namespace {

// A task on one rank, as far as the memory is concerned.
struct Access {
  TaskId task = -1;
  Duration start, end;
  double bound = 0;   // share of its time that memory bounds
  double demand = 0;  // of the memory's bandwidth, while bound
  double lost = 0;    // seconds
};

// E max(0, x) for a normal x.
double MeanExcess(double mean, double variance) {
  if (!(variance > 0)) return std::max(0.0, mean);
  const double sigma = std::sqrt(variance);
  const double z = mean / sigma;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
  return mean * below + sigma * density;
}

class MemoryAccesses {
 public:
  MemoryAccesses(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs,
                 Bandwidth bandwidth)
      : schedule_(schedule), timeline_(timeline), costs_(costs), bandwidth_(bandwidth) {}

  void Add(TaskId task, const LaneInfo& lane) {
    const OpSequenceId op_sequence = schedule_.op_sequence(task);
    Access access{.task = task, .start = timeline_.start(task), .end = timeline_.end(task)};
    if (op_sequence < 0 || access.start == access.end) return;
    if (lane.kind == LaneKind::kCompute) {
      SetComputing(op_sequence, costs_.device_of_rank[lane.rank], access);
    } else {
      SetExchanging(op_sequence, access);
    }
    if (access.bound > 0) accesses_.push_back(access);
  }

  // Returns all accesses with what each of them loses.
  std::span<const Access> Meet() {
    std::stable_sort(accesses_.begin(), accesses_.end(), [](const Access& a, const Access& b) {
      return a.start != b.start ? a.start < b.start : a.task < b.task;
    });
    std::vector<Access*> running;
    Duration now;
    for (size_t next = 0; next < accesses_.size() || !running.empty();) {
      Duration until = next < accesses_.size() ? accesses_[next].start : Duration::Max();
      for (const Access* access : running) until = std::min(until, access->end);
      LoseUntil(running, (until - now).seconds());
      now = until;
      std::erase_if(running, [&](const Access* access) { return access->end <= now; });
      for (; next < accesses_.size() && accesses_[next].start <= now; ++next) {
        running.push_back(&accesses_[next]);
      }
    }
    return accesses_;
  }

 private:
  void SetComputing(OpSequenceId op_sequence, int device, Access& access) const {
    const Device& numbers = costs_.devices[device];
    double seconds = 0, bound = 0;
    for (const OpId id : schedule_.ops(op_sequence)) {
      const Op& op = schedule_.op(id);
      if (IsCollective(op.kind)) continue;
      const double time = costs_.estimates[device][id].time.seconds();
      seconds += time;
      bound += std::min(time, (op.Traffic() / numbers.memory_bandwidth).seconds());
    }
    if (seconds > 0) access.bound = bound / seconds;
    access.demand =
        std::min(1.0, numbers.memory_bandwidth.bytes_per_s() / bandwidth_.bytes_per_s());
  }

  void SetExchanging(OpSequenceId op_sequence, Access& access) const {
    Bytes bytes;  // that are read and written
    for (const OpId id : schedule_.ops(op_sequence)) bytes += 2 * schedule_.op(id).bytes;
    access.bound = 1;
    access.demand =
        std::min(1.0, (bytes / bandwidth_).seconds() / (access.end - access.start).seconds());
  }

  static void LoseUntil(std::span<Access* const> running, double seconds) {
    if (running.size() < 2) return;
    double mean = 0, variance = 0, all = 0;
    const auto variance_of = [](const Access& access) {
      return access.bound * (1 - access.bound) * access.demand * access.demand;
    };
    for (const Access* access : running) {
      mean += access->bound * access->demand;
      variance += variance_of(*access);
      all += access->demand;
    }
    const double most = std::max(0.0, all - 1);  // the loss if all are bound at once
    for (Access* access : running) {
      const double others = mean - access->bound * access->demand;
      const double spread = std::max(0.0, variance - variance_of(*access));
      const double excess = MeanExcess(access->demand + others - 1, spread);
      access->lost += seconds * access->bound * std::min(excess, most);
    }
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const BoundCosts& costs_;
  const Bandwidth bandwidth_;
  std::vector<Access> accesses_;
};

// The memory that all of a task's ranks share on this lane; -1 if there is none, and for copies to
// and from a host.
int MemoryOf(const Schedule& schedule, const Cluster& cluster, TaskId task, const LaneInfo& lane) {
  const bool is_with_host = lane.kind == LaneKind::kHostOut || lane.kind == LaneKind::kHostIn;
  if (lane.rank < 0 || is_with_host) return -1;
  const int memory = cluster.shared_memory(schedule.ranks()[lane.rank].device);
  if (lane.kind == LaneKind::kCompute || schedule.communicator(task) < 0) return memory;
  for (const std::vector<int32_t>& group : schedule.communicators()[schedule.communicator(task)]) {
    for (const int32_t device : group) {
      if (cluster.shared_memory(device) != memory) return -1;
    }
  }
  return memory;
}

}  // namespace

std::vector<Duration> ShareMemory(const Schedule& schedule, const Timeline& timeline,
                                  const BoundCosts& costs, const Cluster& cluster,
                                  std::span<const Duration> durations) {
  std::vector<MemoryAccesses> memories;
  for (const SharedMemory& shared : cluster.shared_memories()) {
    memories.emplace_back(schedule, timeline, costs, shared.bandwidth);
  }
  if (memories.empty()) return {};
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    for (const TaskId task : schedule.order(Lane(lane))) {
      const int memory = MemoryOf(schedule, cluster, task, info);
      if (memory >= 0) memories[memory].Add(task, info);
    }
  }
  // A task on several ranks loses as much as on the rank that loses most.
  std::vector<Duration> extra;
  for (MemoryAccesses& memory : memories) {
    for (const Access& access : memory.Meet()) {
      const Duration lost = Duration::Seconds(access.lost);
      if (lost == Duration()) continue;
      extra.resize(schedule.task_count());
      extra[access.task] = std::max(extra[access.task], lost);
    }
  }
  for (size_t task = 0; task < extra.size(); ++task) extra[task] += durations[task];
  return extra;
}

}  // namespace stagecraft
