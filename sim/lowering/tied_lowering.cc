#include "sim/lowering/tied_lowering.h"

#include <algorithm>

#include "costmodel/divide.h"
#include "sim/lowering/data_collectives.h"
#include "sim/lowering/data_groups.h"
#include "sim/lowering/exchange_devices.h"

namespace stagecraft {
namespace {

// Adds a collective among these stages for each rank of the first of `members`, which are their
// workers; the first stage is the root.
std::vector<TaskId> AddAmong(LoweringContext& context, const LoweredPasses& passes, OpKind kind,
                             int64_t bytes, std::span<const int> stages,
                             std::span<const size_t> members, Tag tag,
                             std::span<const TaskId> after) {
  const auto workers = passes.workers();
  const LoweredWorker& first = workers[members[0]];
  const PipelineInstance& instance = context.folding().instances[first.instance];
  std::vector<TaskId> tasks;
  for (size_t rank = 0; rank < first.data.size(); ++rank) {
    DataGroup group;
    for (const size_t w : members) {
      group.lanes.push_back(workers[w].data[rank % workers[w].data.size()]);
    }
    group.rank = tag.rank = first.ranks[rank];
    const std::vector<int> devices =
        TiedDevices(context.plan, stages, instance, static_cast<int>(rank));
    const Communicator among{context.memory.DescribeGroup(devices),
                             context.builder.AddCommunicator({devices})};
    tasks.push_back(DataCollectives(context, group).Add(kind, bytes, among, tag, after));
  }
  return tasks;
}

int64_t OwnParameters(const Plan& plan, const TiedStages& tied) {
  return DivideUp(tied.parameters, plan.stages.back().tensor_parallel);
}

}  // namespace

std::vector<size_t> TiedWorkers(std::span<const int> stages, int instance,
                                const LoweredPasses& passes) {
  std::vector<size_t> workers;
  for (size_t w = 0; w < passes.workers().size(); ++w) {
    const LoweredWorker& worker = passes.workers()[w];
    const bool holds = std::find(stages.begin(), stages.end(), worker.stage) != stages.end();
    if (worker.instance == instance && holds) workers.push_back(w);
  }
  return workers;
}

std::vector<TaskId> AddTiedReduction(LoweringContext& context, const LoweredPasses& passes,
                                     const TiedStages& tied, std::span<const size_t> members,
                                     std::span<const TaskId> after) {
  Tag tag;
  tag.stage = 0;
  tag.phase = Phase::kGradReduce;
  const int64_t bytes = OwnParameters(context.plan, tied) * context.plan.gradient_bytes;
  return AddAmong(context, passes, OpKind::kAllReduce, bytes, tied.trained, members, tag, after);
}

void AddTiedBroadcast(LoweringContext& context, const LoweredPasses& passes, const TiedStages& tied,
                      int instance, int64_t shares, std::span<const TaskId> after) {
  const int root = tied.trained.back();
  std::vector<int> stages = {root};
  stages.insert(stages.end(), tied.copies.begin(), tied.copies.end());
  std::vector<size_t> members = TiedWorkers({&root, 1}, instance, passes);
  const std::vector<size_t> copies = TiedWorkers(tied.copies, instance, passes);
  members.insert(members.end(), copies.begin(), copies.end());
  Tag tag;
  tag.stage = static_cast<int16_t>(root);
  tag.phase = Phase::kParamGather;
  const int64_t bytes =
      DivideUp(OwnParameters(context.plan, tied), shares) * context.plan.WorkingBytes();
  AddAmong(context, passes, OpKind::kBroadcast, bytes, stages, members, tag, after);
}

}  // namespace stagecraft
