#include "sim/lowering/tied_lowering.h"

#include "costmodel/divide.h"
#include "sim/lowering/data_collectives.h"
#include "sim/lowering/data_groups.h"
#include "sim/lowering/exchange_devices.h"

namespace stagecraft {

std::vector<size_t> TiedWorkers(const TiedStages& tied, int instance, const LoweredPasses& passes) {
  std::vector<size_t> workers;
  for (size_t w = 0; w < passes.workers().size(); ++w) {
    const LoweredWorker& worker = passes.workers()[w];
    if (worker.instance == instance && tied.Hold(worker.stage)) workers.push_back(w);
  }
  return workers;
}

std::vector<TaskId> AddTiedReduction(LoweringContext& context, const LoweredPasses& passes,
                                     const TiedStages& tied, std::span<const size_t> members,
                                     std::span<const TaskId> after) {
  const Plan& plan = context.plan;
  const auto workers = passes.workers();
  const int tensor = plan.stages.back().tensor_parallel;
  const int64_t bytes = DivideUp(tied.parameters, tensor) * plan.gradient_bytes;
  const PipelineInstance& instance = context.folding().instances[workers[members[0]].instance];
  std::vector<TaskId> reductions;
  for (size_t rank = 0; rank < workers[members[0]].data.size(); ++rank) {
    DataGroup group;
    for (const size_t w : members) {
      group.lanes.push_back(workers[w].data[rank % workers[w].data.size()]);
    }
    group.rank = workers[members[0]].ranks[rank];
    Tag tag;
    tag.rank = group.rank;
    tag.stage = 0;
    tag.phase = Phase::kGradReduce;
    const std::vector<int> devices = TiedDevices(plan, tied, instance, static_cast<int>(rank));
    const Communicator among{context.memory.DescribeGroup(devices),
                             context.builder.AddCommunicator({devices})};
    reductions.push_back(
        DataCollectives(context, group).Add(OpKind::kAllReduce, bytes, among, tag, after));
  }
  return reductions;
}

}  // namespace stagecraft
