#include "sim/memory/rank_memory.h"

#include <algorithm>
#include <cstdint>

#include "costmodel/check.h"
#include "sim/memory/caching_allocator.h"

namespace stagecraft {
namespace {

constexpr Bytes kWithoutLimit(int64_t{1} << 60);

// Replays passes through an allocator.
class Replay {
 public:
  Replay(const RankTensors& rank, Bytes capacity)
      : rank_(rank), allocator_(capacity), slots_(rank.chunks.size()) {
    const ModelStates& states = rank.states;
    for (const Bytes buffer :
         {states.weights, states.gradients, states.optimizer, rank.workspace, rank.messages}) {
      Allocate(buffer);
    }
  }

  void Run(const Pass& pass) {
    const ChunkTensors& chunk = *rank_.chunks[pass.chunk];
    std::vector<CachingAllocator::Block>& kept = Kept(pass);
    own_.resize(std::max<size_t>(own_.size(), chunk.tensors - chunk.kept));
    for (const TensorEvent& event : chunk[pass.phase].tensors.events) {
      CachingAllocator::Block& block =
          event.tensor < chunk.kept ? kept[event.tensor] : own_[event.tensor - chunk.kept];
      if (event.change > 0) {
        block = Allocate(Bytes(event.change));
      } else {
        allocator_.Free(block);
      }
    }
  }

  const CachingAllocator& allocator() const { return allocator_; }

 private:
  // Blocks of the kept tensors of a micro-batch; those that it does not hold mean
  // nothing.
  std::vector<CachingAllocator::Block>& Kept(const Pass& pass) {
    auto& chunk = slots_[pass.chunk];
    const size_t micro_batch = pass.micro_batch;
    if (chunk.size() <= micro_batch) chunk.resize(micro_batch + 1);
    chunk[micro_batch].resize(rank_.chunks[pass.chunk]->kept);
    return chunk[micro_batch];
  }

  CachingAllocator::Block Allocate(Bytes size) {
    if (size == Bytes()) return -1;
    std::optional<CachingAllocator::Block> block = allocator_.Allocate(size);
    if (!block.has_value()) {
      // Too little memory; how much it would take is still of interest.
      allocator_.set_capacity(kWithoutLimit);
      block = allocator_.Allocate(size);
    }
    CHECK(block.has_value());
    return *block;
  }

  const RankTensors& rank_;
  CachingAllocator allocator_;
  std::vector<std::vector<std::vector<CachingAllocator::Block>>> slots_;  // chunk, micro-batch
  std::vector<CachingAllocator::Block> own_;
};

// Orders repeat themselves: so many passes that ask for no new segment are taken
// for the steady state, and no more than so many are replayed.
constexpr int kSteadyPasses = 4;
constexpr int kReplayedPasses = 32;

}  // namespace

RankPeak WalkRank(const RankTensors& rank, const PassOrder& order) {
  RankPeak peak;
  peak.workspace = rank.workspace;
  peak.allocated = rank.Static();
  int64_t held = 0;
  int64_t most = 0;
  for (const Pass& pass : order) {
    const PassSummary& summary = (*rank.chunks[pass.chunk])[pass.phase].summary;
    if (held + summary.peak > most) {
      most = held + summary.peak;
      peak.activations = Bytes(held + summary.peak_activation);
      peak.workspace = rank.workspace + Bytes(summary.peak - summary.peak_activation);
    }
    held += summary.net;
  }
  peak.allocated += Bytes(most);
  return peak;
}

double ReservedShare(const RankTensors& rank, const PassOrder& order, Bytes capacity) {
  Replay replay(rank, capacity);
  const CachingAllocator& allocator = replay.allocator();
  const int passes = std::min(kReplayedPasses, static_cast<int>(order.size()));
  Bytes reserved;
  int steady = 0;
  for (int i = 0; i < passes && steady < kSteadyPasses; ++i) {
    replay.Run(order[i]);
    steady = reserved == allocator.peak_reserved() ? steady + 1 : 0;
    reserved = allocator.peak_reserved();
  }
  if (allocator.peak_allocated() == Bytes()) return 1;
  return static_cast<double>(reserved.count()) /
         static_cast<double>(allocator.peak_allocated().count());
}

}  // namespace stagecraft
