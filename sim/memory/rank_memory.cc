#include "sim/memory/rank_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "costmodel/check.h"
#include "sim/memory/caching_allocator.h"
#include "sim/pipeline/offloaded_passes.h"

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
  // Returns the blocks of the kept tensors of a micro-batch; those for tensors that it does not
  // hold have no meaning.
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
      // There is too little memory; how much it would take is still of interest.
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

// After this number of passes in a row without a new segment, the steady state is taken to be
// reached.
constexpr int kSteadyPasses = 4;

// Bytes of activations whose copies begin or end after a pass. While a copy runs, its bytes are
// held on both sides.
struct CopiedBytes {
  int64_t host = 0;    // a copy out begins: from now on the host holds them
  int64_t gone = 0;    // a copy out has ended: the device no longer holds them
  int64_t device = 0;  // a copy back begins: from now on the device holds them
  int64_t back = 0;    // a copy back has ended: the host no longer holds them
};

// Returns one entry for each pass; none if nothing goes to the host.
std::vector<CopiedBytes> CopiesOf(const RankTensors& rank, const PassOrder& order) {
  std::vector<CopiedBytes> copies;
  if (rank.offloaded == 0) return copies;
  copies.resize(order.size());
  for (const OffloadedPass& pass : OffloadedPasses(order)) {
    const int64_t bytes = rank.Offloaded(order[pass.forward].chunk).count();
    copies[pass.forward].host += bytes;
    copies[pass.LastBeforeGone()].gone += bytes;
    copies[pass.LastBeforeBack()].device += bytes;
    copies[pass.backward - 1].back += bytes;
  }
  return copies;
}

class Walk {
 public:
  explicit Walk(const RankTensors& rank) : rank_(rank) {
    peak_.workspace = rank.workspace;
    peak_.allocated = rank.Static();
  }

  void Run(const PassSummary& pass) {
    Note(pass.peak, pass.peak_activation);
    held_ += pass.net;
  }

  // Counts bytes that are being copied on both sides.
  void Copy(const CopiedBytes& copied) {
    held_ += copied.device;
    host_ += copied.host;
    Note(0, 0);
    peak_.host = std::max(peak_.host, Bytes(host_));
    held_ -= copied.gone;
    host_ -= copied.back;
  }

  RankPeak Done() {
    peak_.allocated += Bytes(most_);
    return peak_;
  }

 private:
  void Note(int64_t own, int64_t own_activation) {
    if (held_ + own <= most_) return;
    most_ = held_ + own;
    peak_.activations = Bytes(held_ + own_activation);
    peak_.workspace = rank_.workspace + Bytes(own - own_activation);
  }

  const RankTensors& rank_;
  RankPeak peak_;
  int64_t held_ = 0;
  int64_t most_ = 0;
  int64_t host_ = 0;
};

}  // namespace

Bytes RankTensors::Offloaded(int chunk) const {
  const int64_t saved = (*chunks[chunk])[Phase::kForward].summary.net;
  return Bytes(std::llround(offloaded * static_cast<double>(saved)));
}

RankPeak WalkRank(const RankTensors& rank, const PassOrder& order) {
  const std::vector<CopiedBytes> copies = CopiesOf(rank, order);
  Walk walk(rank);
  for (size_t i = 0; i < order.size(); ++i) {
    walk.Run((*rank.chunks[order[i].chunk])[order[i].phase].summary);
    if (!copies.empty()) walk.Copy(copies[i]);
  }
  return walk.Done();
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
