// Communication inside passes: collectives of tensor, context and expert parallelism.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "tools/report/network_report.h"

namespace stagecraft {
namespace {

// The groups of ranks that communicate inside passes, in the order in which they are reported.
enum class InnerGroup { kTensor, kContext, kExpert };

InnerGroup GroupOf(uint8_t flags) {
  if ((flags & kContextGroup) != 0) return InnerGroup::kContext;
  return (flags & kExpertGroup) != 0 ? InnerGroup::kExpert : InnerGroup::kTensor;
}

const char* Name(InnerGroup group) {
  constexpr const char* kNames[] = {"tensor parallel", "context parallel", "expert parallel"};
  return kNames[static_cast<int>(group)];
}

// Returns the devices of the group to which the first device of a stage belongs.
std::vector<int32_t> FirstGroup(const Plan& plan, int stage, InnerGroup group) {
  const Stage& own = plan.stages[stage];
  const int tensor = own.tensor_parallel, context = own.context_parallel;
  std::vector<int32_t> devices;
  switch (group) {
    case InnerGroup::kTensor:
      for (int t = 0; t < tensor; ++t) devices.push_back(own.replicas[0][t]);
      break;
    case InnerGroup::kContext:
      for (int c = 0; c < context; ++c) devices.push_back(own.replicas[0][c * tensor]);
      break;
    case InnerGroup::kExpert:
      for (int rank = 0; rank < own.expert_parallel; ++rank) {
        devices.push_back(own.replicas[rank / context][rank % context * tensor]);
      }
      break;
  }
  return devices;
}

using Key = std::tuple<InnerGroup, int, OpKind, int, int>;

class Collector {
 public:
  Collector(const SimulatedStep& step, const Cluster& cluster) : step_(step), cluster_(cluster) {}

  std::vector<CommunicatorUse> Collect() {
    const Schedule& schedule = step_.schedule;
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      if (schedule.op_sequence(task) < 0 || schedule.communicator(task) >= 0) continue;
      if (IsPass(schedule.tag(task).phase)) AddTask(task);
    }
    std::vector<CommunicatorUse> list;
    for (auto& [key, use] : uses_) list.push_back(std::move(use));
    return list;
  }

 private:
  void AddTask(TaskId task) {
    const Schedule& schedule = step_.schedule;
    std::set<int32_t> ranks;
    for (const Lane lane : schedule.lanes(task)) {
      ranks.insert(schedule.lane_infos()[Index(lane)].rank);
    }
    const OpSequenceId op_sequence = schedule.op_sequence(task);
    const auto ops = schedule.ops(op_sequence);
    const auto flags = schedule.flags(op_sequence);
    for (size_t i = 0; i < ops.size(); ++i) {
      const Op& op = schedule.op(ops[i]);
      if (!IsCollective(op.kind) || op.fabric.ranks < 2) continue;
      Add(task, ops[i], GroupOf(flags[i]), ranks);
    }
  }

  // Each device of a group runs the op, so a group runs it once for each of its ranks.
  void Add(TaskId task, OpId id, InnerGroup group, const std::set<int32_t>& ranks) {
    const Op& op = step_.schedule.op(id);
    const int stage = step_.schedule.tag(task).stage;
    const Key key(group, stage, op.kind, op.fabric.nodes, op.fabric.ranks);
    CommunicatorUse& use = uses_[key];
    if (use.tasks == 0) {
      use.group = Name(group);
      use.stage = stage;
      use.kind = op.kind;
      use.links = LinksOf(FirstGroup(step_.plan, stage, group), false, cluster_);
    }
    int64_t devices = 0;
    for (const int32_t rank : ranks) {
      const int64_t alike = step_.schedule.ranks()[rank].multiplicity;
      devices += alike;
      if (seen_[key].insert(rank).second) members_[key] += alike;
    }
    rank_tasks_[key] += devices;
    use.tasks = rank_tasks_[key] / op.fabric.ranks;
    rank_bytes_[key] += devices * op.bytes.count();
    use.bytes = Bytes(rank_bytes_[key] / op.fabric.ranks);
    use.groups = members_[key] / op.fabric.ranks;
    if (use.method.channels != 0 && op.bytes < largest_[key]) return;
    largest_[key] = op.bytes;
    use.fabric = op.fabric;
    use.method = step_.costs.MethodOf(step_.schedule, task, id);
  }

  const SimulatedStep& step_;
  const Cluster& cluster_;
  std::map<Key, CommunicatorUse> uses_;
  std::map<Key, int64_t> rank_tasks_, rank_bytes_, members_;
  std::map<Key, std::set<int32_t>> seen_;
  std::map<Key, Bytes> largest_;
};

}  // namespace

std::vector<CommunicatorUse> FindInnerCommunication(const SimulatedStep& step,
                                                    const Cluster& cluster) {
  return Collector(step, cluster).Collect();
}

}  // namespace stagecraft
