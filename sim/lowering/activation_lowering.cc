#include "sim/lowering/activation_lowering.h"

#include <algorithm>
#include <span>
#include <vector>

#include "sim/memory/rank_tensors.h"
#include "sim/pipeline/offloaded_passes.h"
#include "sim/plan/host_offload.h"

namespace stagecraft {
namespace {

class CopyLowering {
 public:
  CopyLowering(LoweringContext& context, const LoweredPasses& passes)
      : passes_(passes), builder_(context.builder) {}

  // Adds the copies of a worker; `copies` are by chunk.
  void Add(size_t worker, const std::vector<OpSequenceId>& copies) {
    const PassOrder& order = passes_.workers()[worker].order;
    ranks_ = passes_.workers()[worker].ranks;
    std::vector<OffloadedPass> offloaded = OffloadedPasses(order);
    if (offloaded.empty()) return;
    for (const int32_t rank : ranks_) {
      out_.push_back(builder_.AddLane({rank, LaneKind::kHostOut}));
      in_.push_back(builder_.AddLane({rank, LaneKind::kHostIn}));
    }
    for (const OffloadedPass& pass : offloaded) {
      const Pass& saves = order[pass.forward];
      AddCopies(out_, passes_.Last(worker, saves),
                passes_.First(worker, order[pass.LastBeforeGone() + 1]), Phase::kOffload,
                copies[saves.chunk]);
    }
    std::sort(
        offloaded.begin(), offloaded.end(),
        [](const OffloadedPass& a, const OffloadedPass& b) { return a.backward < b.backward; });
    for (const OffloadedPass& pass : offloaded) {
      const Pass& needs = order[pass.backward];
      AddCopies(in_, passes_.Last(worker, order[pass.LastBeforeBack()]),
                passes_.First(worker, needs), Phase::kFetch, copies[needs.chunk]);
    }
    out_.clear();
    in_.clear();
  }

 private:
  // Adds the copies of every rank between two passes; their tags are those of the pass whose
  // activations they copy.
  void AddCopies(const std::vector<Lane>& lanes, TaskId after, TaskId before, Phase phase,
                 OpSequenceId copy) {
    Tag tag = builder_.tag(phase == Phase::kOffload ? after : before);
    tag.phase = phase;
    tag.segment = 0;
    for (size_t i = 0; i < lanes.size(); ++i) {
      tag.rank = ranks_[i];
      const TaskId task = builder_.Add({&lanes[i], 1}, {&after, 1}, copy, tag);
      builder_.AddDependency(task, before);
    }
  }

  const LoweredPasses& passes_;
  Schedule::Builder& builder_;
  // The ranks and, by rank, the lanes of the current worker.
  std::span<const int32_t> ranks_;
  std::vector<Lane> out_, in_;
};

}  // namespace

void AddActivationCopies(LoweringContext& context, const LoweredPasses& passes,
                         const FrameworkMemory& framework) {
  const Plan& plan = context.plan;
  RankTensorsMaker maker(context.workload, context.cluster, framework);
  CopyLowering lowering(context, passes);
  for (size_t w = 0; w < passes.workers().size(); ++w) {
    const LoweredWorker& worker = passes.workers()[w];
    const int device = plan.stages[worker.stage].replicas[worker.replica][0];
    const RankTensors rank = maker.Make(plan, worker.stage, worker.replica);
    std::vector<OpSequenceId> copies;
    for (int chunk = 0; chunk < plan.chunk_count(); ++chunk) {
      const Op copy = HostCopy(context.cluster, device, rank.Offloaded(chunk));
      copies.push_back(context.op_sequences.HostOp(copy));
    }
    lowering.Add(w, copies);
  }
}

}  // namespace stagecraft
