#include "sim/lowering/lowered_passes.h"

#include <algorithm>

#include "costmodel/check.h"
#include "sim/plan/asynchronous_plan.h"
#include "sim/shard/optimizer_op.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

// Parameters after which a gradient bucket is closed (Megatron-core's default
// of max(40 M, 1 M x data-parallel ranks)).
int64_t BucketParameters(const Plan& plan, int64_t data_ranks) {
  if (plan.zero >= 3) return 1;  // parameters are gathered layer by layer
  if (plan.bucket_bytes > 0) return std::max<int64_t>(1, plan.bucket_bytes / plan.gradient_bytes);
  return std::max<int64_t>(40'000'000, 1'000'000 * data_ranks);
}

}  // namespace

LoweredPasses::LoweredPasses(const Plan& plan, const Workload& workload, LoweringMemory& memory,
                             bool unfold, bool updates, Schedule::Builder& builder)
    : plan_(plan),
      workload_(workload),
      updates_(updates),
      builder_(builder),
      memory_(memory),
      placed_(memory.Place(plan, unfold)),
      blocks_(workload, builder) {
  for (int stage = 0; stage < stages(); ++stage) {
    const Stage& s = plan.stages[stage];
    const auto peers = static_cast<int64_t>(MapOf(plan).Peers(stage).size());
    data_ranks_.push_back(peers * static_cast<int64_t>(s.replicas.size()) * s.context_parallel);
    FindBuckets(stage);
  }
  for (size_t i = 0; i < folding().instances.size(); ++i) AddInstance(static_cast<int>(i));
}

bool LoweredPasses::OverlapsReduction(int stage) const {
  return updates_ && plan_.overlap_grad_reduce && plan_.zero < 2 && DataRanks(stage) > 1;
}

bool LoweredPasses::OverlapsGather(int stage) const {
  return updates_ && plan_.overlap_param_gather && (plan_.zero == 1 || plan_.zero == 2) &&
         DataRanks(stage) > 1;
}

bool LoweredPasses::ReducesEveryPass(int stage) const {
  return updates_ && plan_.zero >= 2 && DataRanks(stage) > 1;
}

bool LoweredPasses::GathersEveryPass(int stage) const {
  return plan_.zero >= 3 && DataRanks(stage) > 1;
}

ParameterCount LoweredPasses::StageParameters(int stage) const {
  ParameterCount sum;
  for (const auto& chunk : buckets_[stage]) {
    for (const Bucket& bucket : chunk) sum += bucket.parameters;
  }
  return sum;
}

TaskId LoweredPasses::First(size_t w, const Pass& pass) const {
  const int instance = workers_[w].instance;
  return tasks_[instance].First(static_cast<int>(w - instance_begin_[instance]), pass);
}

TaskId LoweredPasses::Last(size_t w, const Pass& pass) const {
  const int instance = workers_[w].instance;
  return tasks_[instance].Last(static_cast<int>(w - instance_begin_[instance]), pass);
}

TaskId LoweredPasses::Update(size_t w, size_t index) const {
  const int instance = workers_[w].instance;
  return tasks_[instance].Update(static_cast<int>(w - instance_begin_[instance]), index);
}

void LoweredPasses::FindBuckets(int stage) {
  const Stage& s = plan_.stages[stage];
  const int64_t size = BucketParameters(plan_, DataRanks(stage));
  const std::vector<ParameterCount> chunk_parameters = ChunkParameters(plan_, workload_, stage);
  std::vector<std::vector<Bucket>> by_chunk;
  std::vector<ParameterCount> of_kind;
  for (const LayerKind& kind : workload_.kinds) {
    of_kind.push_back(ShardParameters(kind, s.tensor_parallel, s.expert_parallel));
  }
  for (size_t chunk = 0; chunk < s.chunks.size(); ++chunk) {
    const LayerRange range = s.chunks[chunk];
    std::vector<Bucket> buckets;
    ParameterCount sum;
    Bucket open{{range.first + range.count, 0}, {}};
    for (int layer = range.first + range.count - 1; layer >= range.first; --layer) {
      open.layers = {layer, open.layers.count + 1};
      open.parameters += of_kind[workload_.layers[layer]];
      if (open.parameters.Total() < size && layer > range.first) continue;
      sum += open.parameters;
      buckets.push_back(open);
      open = {{layer, 0}, {}};
    }
    // A head tied to the embedding of the same stage adds no parameters.
    buckets.front().parameters.dense -= sum.dense - chunk_parameters[chunk].dense;
    by_chunk.push_back(std::move(buckets));
  }
  buckets_.push_back(std::move(by_chunk));
}

void LoweredPasses::AddInstance(int index) {
  const PipelineInstance& instance = folding().instances[index];
  instance_begin_.push_back(workers_.size());
  std::vector<PipelineWorker> pipeline;
  std::vector<MicroBatchShares> shares;
  const bool is_separate = HasSeparatePipelines(plan_);
  PipelineOrders orders;
  if (is_separate) orders = PipelineOrdersOf(plan_, instance.replicas[0][0]);
  for (int stage = 0; stage < stages(); ++stage) {
    shares.push_back(StageShares(plan_, stage));
    if (is_separate) {
      shares.back() = {shares.back().Count(instance.replicas[stage][0]), 1};
    }
    for (size_t r = 0; r < instance.replicas[stage].size(); ++r) {
      const int replica = instance.replicas[stage][r];
      PassOrder order = is_separate ? std::move(orders[stage]) : StageOrder(plan_, stage, replica);
      pipeline.push_back(AddWorker(index, stage, static_cast<int>(r), std::move(order)));
      FindDividedPasses(pipeline.back().order, workers_.back());
      MakeBlocks(workers_.back());
    }
  }
  tasks_.emplace_back(pipeline, shares, MapOf(plan_), static_cast<const PassCosts&>(*this),
                      builder_);
}

PipelineWorker LoweredPasses::AddWorker(int instance_index, int stage, int position,
                                        PassOrder order) {
  const PipelineInstance& instance = folding().instances[instance_index];
  LoweredWorker worker;
  worker.instance = instance_index;
  worker.stage = stage;
  worker.replica = instance.replicas[stage][position];
  const std::vector<int>& devices = plan_.stages[stage].replicas[worker.replica];
  worker.shard = blocks_.InternShard(placed_.Shard(plan_, stage, worker.replica));
  PipelineWorker out;
  out.stage = stage;
  out.replica = position;
  const int folded = instance.multiplicity * static_cast<int>(devices.size());
  const size_t simulated = folding().unfold_ranks ? devices.size() : 1;
  for (size_t i = 0; i < simulated; ++i) {
    const int32_t rank = builder_.AddRank({devices[i], static_cast<int16_t>(stage), worker.replica,
                                           folding().unfold_ranks ? 1 : folded});
    worker.ranks.push_back(rank);
    out.compute.push_back(builder_.AddLane({rank, LaneKind::kCompute}));
    if (stages() > 1) {
      out.send_next.push_back(builder_.AddLane({rank, LaneKind::kSendNext}));
      out.send_previous.push_back(builder_.AddLane({rank, LaneKind::kSendPrevious}));
    }
    worker.data.push_back(builder_.AddLane({rank, LaneKind::kData}));
    compute_lanes_.push_back(out.compute.back());
  }
  out.rank = worker.ranks[0];
  out.sends_block = !plan_.overlap_p2p;
  out.order = std::move(order);
  if (updates_ && IsAsynchronous(plan_.order)) {
    worker.updates = EndlessOrderOf(plan_, workload_, stage, worker.replica).updates;
    out.updates = worker.updates;
  }
  workers_.push_back(std::move(worker));
  return out;
}

void LoweredPasses::FindDividedPasses(const PassOrder& order, LoweredWorker& worker) const {
  worker.first_forward.assign(plan_.chunk_count(), Pass{Phase::kForward, 0, -1});
  worker.last_backward.assign(plan_.chunk_count(), Pass{Phase::kBackward, 0, -1});
  for (const Pass& pass : order) {
    if (MakesWeightGradients(pass.phase)) {
      worker.last_backward[pass.chunk] = pass;
    } else if (pass.phase == Phase::kForward && worker.first_forward[pass.chunk].micro_batch < 0) {
      worker.first_forward[pass.chunk] = pass;
    }
  }
  worker.order = order;
}

// Whether some passes of a phase are divided at bucket borders.
bool LoweredPasses::DividesSome(int stage, Phase phase) const {
  if (GathersEveryPass(stage) && phase != Phase::kBackwardWeight) return true;
  if (phase == Phase::kForward) return OverlapsGather(stage);
  return MakesWeightGradients(phase) && (OverlapsReduction(stage) || ReducesEveryPass(stage));
}

void LoweredPasses::MakeBlocks(const LoweredWorker& worker) {
  std::vector<ChunkBlocks> by_chunk(plan_.chunk_count());
  bool is_paired = false;
  for (const Pass& pass : worker.order) {
    is_paired = is_paired || pass.beside_next;
    const auto phase = static_cast<size_t>(pass.phase);
    ChunkBlocks& blocks = by_chunk[pass.chunk];
    const LayerRange range = plan_.stages[worker.stage].chunks[pass.chunk];
    if (blocks.whole[phase].empty()) {
      blocks.whole[phase] = {blocks_.PassBlock(worker.shard, range, pass.phase)};
      if (DividesSome(worker.stage, pass.phase)) {
        blocks.divided[phase] = BucketBlocks(worker, pass.chunk, pass.phase);
      }
    }
    if (is_paired && blocks.paired[phase].empty()) {
      blocks.paired[phase] = {blocks_.PassBlock(worker.shard, range, pass.phase, is_paired)};
    }
    is_paired = pass.beside_next;
  }
  chunk_blocks_.push_back(std::move(by_chunk));
}

// In the order in which a pass runs through them.
std::vector<BlockId> LoweredPasses::BucketBlocks(const LoweredWorker& worker, int chunk,
                                                 Phase phase) {
  std::vector<BlockId> blocks;
  for (const Bucket& bucket : buckets_[worker.stage][chunk]) {
    blocks.push_back(blocks_.PassBlock(worker.shard, bucket.layers, phase));
  }
  if (phase == Phase::kForward) std::reverse(blocks.begin(), blocks.end());
  return blocks;
}

// Workers are counted within the instance under construction, the last one.
std::span<const BlockId> LoweredPasses::Parts(int index, const Pass& pass, bool paired) const {
  const size_t w = instance_begin_.back() + static_cast<size_t>(index);
  const ChunkBlocks& blocks = chunk_blocks_[w][pass.chunk];
  const auto phase = static_cast<size_t>(pass.phase);
  if (IsDivided(workers_[w], pass)) return blocks.divided[phase];
  return paired ? blocks.paired[phase] : blocks.whole[phase];
}

bool LoweredPasses::CompletesUpdate(const LoweredWorker& worker, const Pass& pass) {
  const auto first = std::partition_point(
      worker.updates.begin(), worker.updates.end(), [&](const WeightUpdate& update) {
        return worker.order[update.complete].micro_batch < pass.micro_batch;
      });
  return first != worker.updates.end() && worker.order[first->complete] == pass;
}

bool LoweredPasses::IsDivided(const LoweredWorker& worker, const Pass& pass) const {
  if (!DividesSome(worker.stage, pass.phase)) return false;
  if (GathersEveryPass(worker.stage)) return true;
  const bool forward = pass.phase == Phase::kForward;
  if (!forward && ReducesEveryPass(worker.stage)) return true;
  if (!worker.updates.empty()) return CompletesUpdate(worker, pass);
  const Pass& edge = (forward ? worker.first_forward : worker.last_backward)[pass.chunk];
  return pass.phase == edge.phase && pass.micro_batch == edge.micro_batch;
}

// Forward sends the output of the chunk's last layer, backward the gradient of
// what the layer before its first one had put out.
BlockId LoweredPasses::Transfer(int from, int to, const Pass& pass, int device) const {
  if (from == to) return -1;
  const size_t sender_index = instance_begin_.back() + static_cast<size_t>(from);
  const size_t receiver_index = instance_begin_.back() + static_cast<size_t>(to);
  const LoweredWorker& sender = workers_[sender_index];
  const LoweredWorker& receiver = workers_[receiver_index];
  const LayerRange range = plan_.stages[sender.stage].chunks[pass.chunk];
  const int layer = pass.phase == Phase::kForward ? range.first + range.count - 1 : range.first - 1;
  const int index = layer * static_cast<int>(sender.ranks.size()) + device;
  const auto [entry, is_new] = transfers_.try_emplace({sender_index, receiver_index, index}, -1);
  if (!is_new) return entry->second;
  const Fabric& fabric = placed_.Messages(plan_, sender.stage, sender.replica, receiver.stage,
                                          receiver.replica)[device];
  const Bytes bytes = BoundaryBytes(workload_.layer(layer), blocks_.shard(sender.shard));
  entry->second = blocks_.SingleOp(Op::Collective(OpKind::kSendRecv, bytes, fabric));
  return entry->second;
}

BlockId LoweredPasses::Update(int index) const {
  const int stage = workers_[instance_begin_.back() + static_cast<size_t>(index)].stage;
  return blocks_.SingleOp(OptimizerOp(plan_, stage, StageParameters(stage), DataRanks(stage)));
}

int32_t LoweredPasses::Channel(int from, int to, int device) const {
  const size_t sender_index = instance_begin_.back() + static_cast<size_t>(from);
  const size_t receiver_index = instance_begin_.back() + static_cast<size_t>(to);
  const auto [entry, is_new] = channels_.try_emplace({sender_index, receiver_index, device}, -1);
  if (!is_new) return entry->second;
  const LoweredWorker& sender = workers_[sender_index];
  const LoweredWorker& receiver = workers_[receiver_index];
  const MessageEnds ends =
      FindMessages(plan_, sender.stage, sender.replica, receiver.stage, receiver.replica)[device];
  entry->second = builder_.AddCommunicator({{ends.sender, ends.receiver}});
  return entry->second;
}

}  // namespace stagecraft
