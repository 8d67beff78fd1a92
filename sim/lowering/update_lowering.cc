#include "sim/lowering/update_lowering.h"

#include <algorithm>
#include <optional>

#include "costmodel/divide.h"
#include "sim/lowering/data_collectives.h"
#include "sim/lowering/data_groups.h"
#include "sim/lowering/sharded_lowering.h"
#include "sim/lowering/tied_lowering.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/host_offload.h"
#include "sim/plan/tied_stages.h"
#include "sim/shard/optimizer_op.h"

namespace stagecraft {
namespace {

// The chunks of a stage in the order of their first forwards, which is the reverse of that of their
// last backwards: a split vocabulary's embedding first and its output last.
std::vector<int> ChunksInOrder(const Plan& plan) {
  std::vector<int> chunks;
  const int count = plan.chunk_count();
  if (plan.SplitsVocabulary()) chunks.push_back(EmbeddingChunk(count));
  for (int chunk = 0; chunk < count; ++chunk) chunks.push_back(chunk);
  if (plan.SplitsVocabulary()) chunks.push_back(OutputChunk(count));
  return chunks;
}

class UpdateLowering {
 public:
  UpdateLowering(LoweringContext& context, const LoweredPasses& passes)
      : context_(context),
        plan_(context.plan),
        rules_(context.rules),
        passes_(passes),
        map_(MapOf(context.plan)),
        chunks_(ChunksInOrder(context.plan)),
        workers_(map_.stages()),
        own_reductions_(map_.stages()),
        updates_(map_.stages()),
        updates_of_worker_(passes.workers().size()),
        gathers_(map_.stages()),
        tied_(FindTiedStages(context.plan, context.workload)) {
    for (int stage = 0; stage < map_.stages(); ++stage) {
      const std::vector<int> peers = map_.Peers(stage);
      leaders_.push_back(peers[0]);
      for (size_t w = 0; w < passes.workers().size(); ++w) {
        const int own = passes.workers()[w].stage;
        if (std::find(peers.begin(), peers.end(), own) != peers.end()) workers_[stage].push_back(w);
      }
    }
  }

  void Run() {
    for (int stage = 0; stage < map_.stages(); ++stage) {
      // Stages that hold copies of the same parameters act as one.
      if (leaders_[stage] < stage) {
        groups_.push_back(groups_[leaders_[stage]]);
        continue;
      }
      groups_.push_back(FindDataGroups(context_, passes_, stage));
      if (rules_.OverlapsGather(stage)) AddEarlyGathers(stage);
      if (rules_.ReducesEveryPass(stage) || rules_.GathersEveryPass(stage)) {
        const std::vector<TaskId> last =
            AddShardedTraffic(context_, passes_, stage, groups_[stage]);
        for (const TaskId reduction : last) NoteReduction(stage, reduction);
      } else if (context_.updates && rules_.DataRanks(stage) > 1) {
        AddReductions(stage);
      }
    }
    if (!context_.updates) return;
    AddTiedReductions();
    if (!plan_.post_validation) AddGradNorm();
    for (int stage = 0; stage < map_.stages(); ++stage) AddOptimizer(stage);
    if (tied_ && !tied_->copies.empty()) AddTiedCopies();
  }

 private:
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

  // The parameters of a bucket that the last step has changed: with those that a stage gets from
  // the one that trains them.
  ParameterCount ChangedOf(int stage, const Bucket& bucket) const {
    ParameterCount changed = bucket.trained;
    if (!tied_) return changed;
    const auto& copies = tied_->copies;
    if (std::find(copies.begin(), copies.end(), stage) == copies.end()) return changed;
    for (int layer = bucket.layers.first; layer < bucket.layers.first + bucket.layers.count;
         ++layer) {
      const LayerKind& kind = context_.workload.layer(layer);
      if (layer > 0 && kind.tied_parameters == 0) continue;
      changed.dense += DivideUp(tied_->parameters, plan_.stages[stage].tensor_parallel);
      break;  // layers of a stage hold the tensor once
    }
    return changed;
  }

  // Gathers sharded parameters at the start of the step, bucket by bucket, each before the part of
  // the first forward that needs it.
  void AddEarlyGathers(int stage) {
    for (const DataGroup& group : groups_[stage]) {
      for (const int chunk : chunks_) {
        const auto buckets = context_.buckets.Of(stage, chunk);
        for (size_t part = 0; part < buckets.size(); ++part) {
          const Bucket& bucket = buckets[buckets.size() - 1 - part];
          const Tag tag =
              MakeTag(group.rank, stage, Phase::kParamGather, chunk, static_cast<int>(part));
          const ParameterCount changed = ChangedOf(stage, bucket);
          if (changed.Total() == 0) continue;  // unchanged since they were gathered last
          const TaskId gather = DataCollectives(context_, group).Gather(changed, tag, {});
          for (const size_t w : passes_.WorkersOf(stage)) {
            const Pass& first = passes_.workers()[w].first_forward[chunk];
            context_.builder.AddDependency(gather,
                                           passes_.First(w, first) + static_cast<TaskId>(part));
          }
        }
      }
    }
  }

  // Records a reduction that the norm of all gradients waits for or, without a norm, the update of
  // its own stage.
  void NoteReduction(int stage, TaskId reduction) {
    reductions_.push_back(reduction);
    own_reductions_[leaders_[stage]].push_back(reduction);
  }

  void AddReduction(int stage, int chunk, int bucket, const ParameterCount& trained,
                    std::span<const TaskId> after) {
    if (trained.Total() == 0) return;
    for (const DataGroup& group : groups_[stage]) {
      const Tag tag = MakeTag(group.rank, stage, Phase::kGradReduce, chunk, bucket);
      NoteReduction(stage, DataCollectives(context_, group).Reduce(trained, tag, after));
    }
  }

  void AddReductions(int stage) {
    const auto workers = passes_.workers();
    std::vector<TaskId> after;
    if (!rules_.OverlapsReduction(stage)) {
      for (const size_t w : workers_[stage]) {
        after.push_back(passes_.Last(w, workers[w].order.back()));
      }
      return AddReduction(stage, -1, 0, context_.buckets.TrainedParameters(stage), after);
    }
    for (size_t i = chunks_.size(); i-- > 0;) {
      const int chunk = chunks_[i];
      const auto buckets = context_.buckets.Of(stage, chunk);
      for (size_t b = 0; b < buckets.size(); ++b) {
        after.clear();
        for (const size_t w : workers_[stage]) {
          const bool is_share = chunk >= plan_.chunk_count();
          const int like = is_share ? chunk : ChunkLike(stage, chunk, workers[w].stage);
          after.push_back(passes_.First(w, workers[w].last_backward[like]) +
                          static_cast<TaskId>(b));
        }
        AddReduction(stage, chunk, static_cast<int>(b), buckets[b].trained, after);
      }
    }
  }

  // Reduces the gradients of a tensor of several stages, after the reductions of the replicas.
  void AddTiedReductions() {
    if (!tied_ || tied_->trained.size() < 2) return;
    const auto workers = passes_.workers();
    for (size_t i = 0; i < context_.folding().instances.size(); ++i) {
      const std::vector<size_t> members = TiedWorkers(tied_->trained, static_cast<int>(i), passes_);
      std::vector<TaskId> after;
      for (const size_t w : members) after.push_back(passes_.Last(w, workers[w].order.back()));
      for (const TaskId reduction : AddTiedReduction(context_, passes_, *tied_, members, after)) {
        for (const size_t w : members) {
          own_reductions_[leaders_[workers[w].stage]].push_back(reduction);
        }
        reductions_.push_back(reduction);
      }
    }
  }

  // Stages whose use of a tensor takes no gradient get it from one that updates it. What no gather
  // has made whole is sent in the shares of the ranks.
  void AddTiedCopies() {
    const int root = tied_->trained.back();
    const std::vector<TaskId>& gathers = gathers_[leaders_[root]];
    const bool is_whole = plan_.zero == 0 || !gathers.empty();
    const int64_t shares = is_whole ? 1 : groups_[root].front().dense.shards();
    for (size_t i = 0; i < context_.folding().instances.size(); ++i) {
      std::vector<TaskId> after = gathers;
      for (const size_t w : TiedWorkers({&root, 1}, static_cast<int>(i), passes_)) {
        after.insert(after.end(), updates_of_worker_[w].begin(), updates_of_worker_[w].end());
      }
      AddTiedBroadcast(context_, passes_, *tied_, static_cast<int>(i), shares, after);
    }
  }

  // All ranks know the gradient norm before any of them updates (for clipping, and for the overflow
  // check of 16-bit floats).
  void AddGradNorm() {
    const Fabric& world = context_.placed.world();
    if (world.ranks == 1) return;
    const Op op = Op::Collective(OpKind::kAllReduce, Bytes(4), world);
    context_.AddTask(op, passes_.compute_lanes(), reductions_, MakeTag(0, -1, Phase::kGradNorm));
  }

  // What one rank of a worker runs, one task after another, to update its trained parameters.
  std::vector<OpSequenceId> Updates(const LoweredWorker& worker,
                                    const ParameterCount& parameters) const {
    const int64_t ranks = rules_.DataRanks(worker.stage);
    OpSequenceTable& table = context_.op_sequences;
    if (!plan_.offload.optimizer) {
      return {table.SingleOp(OptimizerOp(plan_, worker.stage, parameters, ranks))};
    }
    const int device = plan_.stages[worker.stage].replicas[worker.replica][0];
    std::vector<OpSequenceId> updates;
    for (const Op& op : HostUpdate(plan_, context_.cluster, device,
                                   UpdatedParameters(plan_, worker.stage, parameters, ranks))) {
      updates.push_back(table.HostOp(op));
    }
    return updates;
  }

  void AddOptimizer(int stage) {
    const ParameterCount parameters = context_.buckets.TrainedParameters(stage);
    if (parameters.Total() == 0) return;
    const std::vector<int> peers = map_.Peers(stage);
    std::vector<TaskId>& updates = updates_[peers[0]];
    // Otherwise the update follows the norm, which holds every compute lane.
    const std::span<const TaskId> after = plan_.post_validation
                                              ? std::span<const TaskId>(own_reductions_[peers[0]])
                                              : std::span<const TaskId>();
    for (const size_t w : passes_.WorkersOf(stage)) {
      const LoweredWorker& worker = passes_.workers()[w];
      const std::vector<OpSequenceId> own = Updates(worker, parameters);
      for (size_t i = 0; i < worker.ranks.size(); ++i) {
        const Tag tag = MakeTag(worker.ranks[i], stage, Phase::kOptimizer);
        for (const OpSequenceId update : own) {
          updates.push_back(context_.builder.Add({&worker.compute[i], 1}, after, update, tag));
          updates_of_worker_[w].push_back(updates.back());
        }
      }
    }
    const bool gathers = (plan_.zero == 1 || plan_.zero == 2) && rules_.DataRanks(stage) > 1 &&
                         !plan_.overlap_param_gather;
    if (!gathers || stage != peers.back()) return;
    for (const DataGroup& group : groups_[stage]) {
      const Tag tag = MakeTag(group.rank, stage, Phase::kParamGather);
      DataCollectives collectives(context_, group);
      if (plan_.framework.parameter_exchange == ParameterExchange::kBroadcasts) {
        gathers_[peers[0]].push_back(collectives.Broadcast(parameters, tag, updates));
      } else {
        gathers_[peers[0]].push_back(collectives.Gather(parameters, tag, updates));
      }
    }
  }

  LoweringContext& context_;
  const Plan& plan_;
  const TrafficRules& rules_;
  const LoweredPasses& passes_;
  const ChunkMap map_;
  const std::vector<int> chunks_;               // in the order of their first forwards
  std::vector<int> leaders_;                    // by stage: the first stage that holds the same
  std::vector<std::vector<size_t>> workers_;    // by stage: of the stages that hold the same
  std::vector<std::vector<DataGroup>> groups_;  // by stage
  std::vector<TaskId> reductions_;              // the norm waits for them
  std::vector<std::vector<TaskId>> own_reductions_;  // by the first stage that holds the same
  std::vector<std::vector<TaskId>> updates_;         // by the first stage that holds the same
  std::vector<std::vector<TaskId>> updates_of_worker_;
  std::vector<std::vector<TaskId>> gathers_;  // of what was updated, as `updates_`
  const std::optional<TiedStages> tied_;
};

}  // namespace

void AddUpdate(LoweringContext& context, const LoweredPasses& passes) {
  UpdateLowering(context, passes).Run();
}

}  // namespace stagecraft
