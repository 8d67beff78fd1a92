#include "sim/lowering/update_lowering.h"

#include <algorithm>
#include <optional>

#include "costmodel/divide.h"
#include "sim/lowering/data_groups.h"
#include "sim/lowering/sharded_lowering.h"
#include "sim/lowering/tied_lowering.h"
#include "sim/plan/host_offload.h"
#include "sim/shard/optimizer_op.h"

namespace stagecraft {
namespace {

class UpdateLowering {
 public:
  UpdateLowering(const Plan& plan, const Workload& workload, const Cluster& cluster,
                 LoweredPasses& passes, Schedule::Builder& builder)
      : plan_(plan),
        workload_(workload),
        cluster_(cluster),
        map_(MapOf(plan)),
        passes_(passes),
        builder_(builder),
        workers_(plan.stages.size()),
        own_reductions_(plan.stages.size()),
        updates_(plan.stages.size()) {
    for (int stage = 0; stage < stages(); ++stage) {
      const std::vector<int> peers = map_.Peers(stage);
      leaders_.push_back(peers[0]);
      for (size_t w = 0; w < passes.workers().size(); ++w) {
        const int own = passes.workers()[w].stage;
        if (std::find(peers.begin(), peers.end(), own) != peers.end()) workers_[stage].push_back(w);
      }
    }
  }

  void Run() {
    for (int stage = 0; stage < stages(); ++stage) {
      // Stages that hold copies of the same parameters act as one.
      if (leaders_[stage] < stage) {
        groups_.push_back(groups_[leaders_[stage]]);
        continue;
      }
      groups_.push_back(FindDataGroups(plan_, cluster_, passes_, stage, builder_));
      if (passes_.OverlapsGather(stage)) AddEarlyGathers(stage);
      if (passes_.ReducesEveryPass(stage) || passes_.GathersEveryPass(stage)) {
        const std::vector<TaskId> last =
            AddShardedTraffic(plan_, stage, groups_[stage], passes_, builder_);
        for (const TaskId reduction : last) NoteReduction(stage, reduction);
      } else if (passes_.updates() && passes_.DataRanks(stage) > 1) {
        AddReductions(stage);
      }
    }
    if (!passes_.updates()) return;
    AddTiedReductions();
    if (!plan_.post_validation) AddGradNorm();
    for (int stage = 0; stage < stages(); ++stage) AddOptimizer(stage);
  }

 private:
  int stages() const { return static_cast<int>(plan_.stages.size()); }
  // The chunk of `stage` that is the same part of the network as `chunk` of its peer.
  int ChunkLike(int peer, int chunk, int stage) const {
    const int index = map_.PartAt({peer, chunk}).index;
    int like = 0;
    while (map_.PartAt({stage, like}).index != index) ++like;
    return like;
  }

  Tag MakeTag(int32_t rank, int stage, Phase phase, int chunk = -1, int segment = 0) const {
    Tag tag;
    tag.rank = rank;
    tag.stage = static_cast<int16_t>(stage);
    tag.chunk = static_cast<int16_t>(chunk);
    tag.phase = phase;
    tag.segment = static_cast<uint8_t>(std::min(segment, 255));
    return tag;
  }

  // Sharded parameters are gathered at the start of the step, bucket by
  // bucket, each before the part of the first forward that needs it.
  void AddEarlyGathers(int stage) {
    for (const DataGroup& group : groups_[stage]) {
      for (int chunk = 0; chunk < plan_.chunk_count(); ++chunk) {
        const auto buckets = passes_.buckets(stage, chunk);
        for (size_t part = 0; part < buckets.size(); ++part) {
          const Bucket& bucket = buckets[buckets.size() - 1 - part];
          const TaskId gather = AddParameterGather(
              plan_, bucket.parameters, group,
              MakeTag(group.rank, stage, Phase::kParamGather, chunk, static_cast<int>(part)), {},
              passes_, builder_);
          for (size_t w = 0; w < passes_.workers().size(); ++w) {
            const LoweredWorker& worker = passes_.workers()[w];
            if (worker.stage != stage) continue;
            builder_.AddDependency(
                gather, passes_.First(w, worker.first_forward[chunk]) + static_cast<TaskId>(part));
          }
        }
      }
    }
  }

  // The norm of all gradients waits for it, or else the update of its own stage.
  void NoteReduction(int stage, TaskId reduction) {
    reductions_.push_back(reduction);
    own_reductions_[leaders_[stage]].push_back(reduction);
  }

  void AddReduction(int stage, int chunk, int bucket, const ParameterCount& parameters,
                    std::span<const TaskId> after) {
    for (const DataGroup& group : groups_[stage]) {
      const Tag tag = MakeTag(group.rank, stage, Phase::kGradReduce, chunk, bucket);
      NoteReduction(stage,
                    AddGradientReduction(plan_, parameters, group, tag, after, passes_, builder_));
    }
  }

  void AddReductions(int stage) {
    const auto workers = passes_.workers();
    std::vector<TaskId> after;
    if (!passes_.OverlapsReduction(stage)) {
      for (const size_t w : workers_[stage]) {
        after.push_back(passes_.Last(w, workers[w].order.back()));
      }
      return AddReduction(stage, -1, 0, passes_.StageParameters(stage), after);
    }
    for (int chunk = plan_.chunk_count() - 1; chunk >= 0; --chunk) {
      const auto buckets = passes_.buckets(stage, chunk);
      for (size_t b = 0; b < buckets.size(); ++b) {
        after.clear();
        for (const size_t w : workers_[stage]) {
          const int like = ChunkLike(stage, chunk, workers[w].stage);
          after.push_back(passes_.First(w, workers[w].last_backward[like]) +
                          static_cast<TaskId>(b));
        }
        AddReduction(stage, chunk, static_cast<int>(b), buckets[b].parameters, after);
      }
    }
  }

  // After those of the replicas.
  void AddTiedReductions() {
    const std::optional<TiedStages> tied = FindTiedStages(plan_, workload_);
    if (!tied) return;
    const auto workers = passes_.workers();
    for (size_t i = 0; i < passes_.folding().instances.size(); ++i) {
      const std::vector<size_t> members = TiedWorkers(*tied, static_cast<int>(i), passes_);
      std::vector<TaskId> after;
      for (const size_t w : members) after.push_back(passes_.Last(w, workers[w].order.back()));
      for (const TaskId reduction :
           AddTiedReduction(plan_, *tied, members, after, passes_, builder_)) {
        for (const size_t w : members) {
          own_reductions_[leaders_[workers[w].stage]].push_back(reduction);
        }
        reductions_.push_back(reduction);
      }
    }
  }

  // Everyone knows the gradient norm before anyone updates (clipping, and the
  // overflow check of 16-bit floats).
  void AddGradNorm() {
    const Fabric& world = passes_.placed().world();
    if (world.ranks == 1) return;
    const Op op = Op::Collective(OpKind::kAllReduce, Bytes(4), world);
    builder_.Add(passes_.compute_lanes(), reductions_, passes_.blocks().SingleOp(op),
                 MakeTag(0, -1, Phase::kGradNorm));
  }

  TaskId AddUpdateTask(const Op& op, int32_t rank, int stage, std::span<const TaskId> after) {
    const Lane lane = passes_.compute_lanes()[rank];
    return builder_.Add({&lane, 1}, after, passes_.blocks().SingleOp(op),
                        MakeTag(rank, stage, Phase::kOptimizer));
  }

  void AddOptimizer(int stage) {
    const int64_t ranks = passes_.DataRanks(stage);
    const ParameterCount parameters = passes_.StageParameters(stage);
    const int64_t own = UpdatedParameters(plan_, stage, parameters, ranks);
    const Op update = OptimizerOp(plan_, stage, parameters, ranks);
    const std::vector<int> peers = map_.Peers(stage);
    std::vector<TaskId>& updates = updates_[peers[0]];
    // Else the norm, which every lane waits for, says so.
    const std::span<const TaskId> after = plan_.post_validation
                                              ? std::span<const TaskId>(own_reductions_[peers[0]])
                                              : std::span<const TaskId>();
    for (const LoweredWorker& worker : passes_.workers()) {
      if (worker.stage != stage) continue;
      for (const int32_t rank : worker.ranks) {
        if (plan_.offload.optimizer) {
          const int device = plan_.stages[stage].replicas[worker.replica][0];
          for (const Op& op : HostUpdate(plan_, cluster_, device, own)) {
            updates.push_back(AddUpdateTask(op, rank, stage, after));
          }
        } else {
          updates.push_back(AddUpdateTask(update, rank, stage, after));
        }
      }
    }
    const bool gathers =
        (plan_.zero == 1 || plan_.zero == 2) && ranks > 1 && !plan_.overlap_param_gather;
    if (!gathers || stage != peers.back()) return;
    for (const DataGroup& group : groups_[stage]) {
      AddParameterGather(plan_, parameters, group, MakeTag(group.rank, stage, Phase::kParamGather),
                         updates, passes_, builder_);
    }
  }

  const Plan& plan_;
  const Workload& workload_;
  const Cluster& cluster_;
  const ChunkMap map_;
  LoweredPasses& passes_;
  Schedule::Builder& builder_;
  std::vector<int> leaders_;                    // by stage: the first of those that hold the same
  std::vector<std::vector<size_t>> workers_;    // by stage: of those that hold the same
  std::vector<std::vector<DataGroup>> groups_;  // by stage
  std::vector<TaskId> reductions_;              // what the norm waits for
  std::vector<std::vector<TaskId>> own_reductions_;  // by the first of stages that hold the same
  std::vector<std::vector<TaskId>> updates_;         // by the first of stages that hold the same
};

}  // namespace

void AddUpdate(const Plan& plan, const Workload& workload, const Cluster& cluster,
               LoweredPasses& passes, Schedule::Builder& builder) {
  UpdateLowering(plan, workload, cluster, passes, builder).Run();
}

}  // namespace stagecraft
