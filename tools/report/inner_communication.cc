// Communication inside passes: collectives of tensor, context and expert parallelism.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "costmodel/hash.h"
#include "sim/engine/repeated_tasks.h"
#include "tools/report/communicator_uses.h"

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

// Tasks that run the same ops of one stage on the same lanes: passes of several micro-batches.
struct AlikeTasks {
  TaskId last = 0;
  int64_t count = 0;
};

// Compares tasks by their op sequences, stages and lanes.
struct Alikeness {
  const Schedule& schedule;

  size_t operator()(TaskId task) const {
    TableHash hash;
    hash.Add(schedule.op_sequence(task)).Add(schedule.tag(task).stage);
    for (const Lane lane : schedule.lanes(task)) hash.Add(Index(lane));
    return hash.value();
  }
  bool operator()(TaskId a, TaskId b) const {
    const auto x = schedule.lanes(a), y = schedule.lanes(b);
    return schedule.op_sequence(a) == schedule.op_sequence(b) &&
           schedule.tag(a).stage == schedule.tag(b).stage &&
           std::equal(x.begin(), x.end(), y.begin(), y.end());
  }
};

// Returns the tasks of passes that have ops, in groups of alike ones.
std::vector<AlikeTasks> FindPasses(const SimulatedStep& step) {
  const Schedule& schedule = step.schedule;
  const RepeatedTasks repeated(schedule, step.repetition);
  const Alikeness alike{schedule};
  std::unordered_map<TaskId, AlikeTasks, Alikeness, Alikeness> passes(0, alike, alike);
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (schedule.op_sequence(task) < 0 || schedule.communicator(task) >= 0) continue;
    if (!IsPass(schedule.tag(task).phase)) continue;
    AlikeTasks& tasks = passes[task];
    tasks.last = task;
    tasks.count += repeated.Count(task);
  }
  std::vector<AlikeTasks> list;
  for (const auto& [first, tasks] : passes) list.push_back(tasks);
  std::sort(list.begin(), list.end(),
            [](const AlikeTasks& a, const AlikeTasks& b) { return a.last < b.last; });
  return list;
}

using Key = std::tuple<InnerGroup, int, OpKind, int, int>;

class Collector {
 public:
  explicit Collector(const SimulatedStep& step) : step_(step) {}

  std::vector<CommunicatorUse> Collect() {
    for (const AlikeTasks& alike : FindPasses(step_)) Add(alike);
    std::vector<CommunicatorUse> list;
    for (auto& [key, sums] : sums_) {
      CommunicatorUse& use = sums.use;
      // Each device of a group runs the op, so a group runs it once for each of its ranks.
      use.tasks = sums.rank_tasks / use.fabric.ranks;
      use.bytes = Bytes(sums.rank_bytes / use.fabric.ranks);
      use.groups = sums.members / use.fabric.ranks;
      list.push_back(std::move(use));
    }
    return list;
  }

 private:
  // Sums over all devices, each of which counts the tasks of its group.
  struct Sums {
    CommunicatorUse use;
    int64_t rank_tasks = 0, rank_bytes = 0, members = 0;
    std::vector<bool> has_rank;  // by rank of the schedule
    Bytes largest;               // of the ops
  };

  void Add(const AlikeTasks& alike) {
    const Schedule& schedule = step_.schedule;
    std::vector<int32_t> ranks;
    for (const Lane lane : schedule.lanes(alike.last)) {
      ranks.push_back(schedule.lane_infos()[Index(lane)].rank);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    const OpSequenceId op_sequence = schedule.op_sequence(alike.last);
    const auto ops = schedule.ops(op_sequence);
    const auto flags = schedule.flags(op_sequence);
    for (size_t i = 0; i < ops.size(); ++i) {
      const Op& op = schedule.op(ops[i]);
      if (!IsCollective(op.kind) || op.fabric.ranks < 2) continue;
      Add(alike, ops[i], GroupOf(flags[i]), ranks);
    }
  }

  void Add(const AlikeTasks& alike, OpId id, InnerGroup group, const std::vector<int32_t>& ranks) {
    const Op& op = step_.schedule.op(id);
    const int stage = step_.schedule.tag(alike.last).stage;
    const auto [found, is_new] =
        sums_.try_emplace(Key(group, stage, op.kind, op.fabric.nodes, op.fabric.ranks));
    Sums& sums = found->second;
    CommunicatorUse& use = sums.use;
    if (is_new) {
      use.group = Name(group);
      use.stage = stage;
      use.kind = op.kind;
      use.first_group = FirstGroup(step_.plan, stage, group);
      sums.has_rank.resize(step_.schedule.ranks().size());
    }
    int64_t devices = 0;
    for (const int32_t rank : ranks) {
      const int64_t multiplicity = step_.schedule.ranks()[rank].multiplicity;
      devices += multiplicity;
      if (!sums.has_rank[rank]) sums.members += multiplicity;
      sums.has_rank[rank] = true;
    }
    sums.rank_tasks += alike.count * devices;
    sums.rank_bytes += alike.count * devices * op.bytes.count();
    if (use.method.channels != 0 && op.bytes < sums.largest) return;
    sums.largest = op.bytes;
    use.fabric = op.fabric;
    use.method = step_.costs.MethodOf(step_.schedule, alike.last, id);
  }

  const SimulatedStep& step_;
  std::map<Key, Sums> sums_;
};

}  // namespace

std::vector<CommunicatorUse> FindInnerCommunication(const SimulatedStep& step) {
  return Collector(step).Collect();
}

}  // namespace stagecraft
