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

// Replays passes through an allocator, which has a stream for each pool of tensors.
class Replay {
 public:
  Replay(const RankTensors& rank, Bytes capacity)
      : rank_(rank),
        allocator_(capacity, kTensorPools),
        slots_(rank.chunks.size()),
        makers_(rank.chunks.size()) {
    const ModelStates& states = rank.states;
    for (const Bytes buffer :
         {states.weights, states.gradients, states.optimizer, rank.workspace, rank.messages}) {
      if (buffer != Bytes()) Allocate(buffer, TensorPool::kCompute);
    }
  }

  void Run(const Pass& pass) {
    const ChunkTensors& chunk = *rank_.chunks[pass.chunk];
    std::vector<Block>& kept = Kept(pass);
    makes_gradients_ = makers_.Makes(pass.chunk, pass.phase);
    Run(chunk[pass.phase].tensors, chunk.kept, chunk.tensors, kept);
  }

  // Runs the update, when nothing is left of the passes but the gradients that they made.
  void Update() {
    for (auto& chunk : slots_) {
      for (std::vector<Block>& micro_batch : chunk) FreeAll(micro_batch);
    }
    FreeAll(own_);
    std::vector<Block> none;
    int tensors = 0;
    for (const TensorEvent& event : rank_.update.tensors.events) {
      tensors = std::max(tensors, event.tensor + 1);
    }
    Run(rank_.update.tensors, 0, tensors, none);
  }

  Bytes peak_allocated() const { return allocator_.peak_allocated(); }
  Bytes peak_reserved() const { return allocator_.peak_reserved(); }

 private:
  using Block = CachingAllocator::Block;
  static constexpr Block kNone = -1;

  // Runs events whose tensors [0, kept) live from pass to pass.
  void Run(const PassTensors& pass, int kept, int tensors, std::vector<Block>& blocks) {
    own_.resize(std::max<size_t>(own_.size(), tensors - kept), kNone);
    for (const TensorEvent& event : pass.events) {
      Block& held = event.tensor < kept ? blocks[event.tensor] : own_[event.tensor - kept];
      if (event.change < 0) {
        Free(held);
      } else if (event.role == TensorRole::kGradient) {
        if (makes_gradients_) Allocate(Bytes(event.change), event.pool);  // nobody frees it
      } else {
        held = Allocate(Bytes(event.change), event.pool);
      }
    }
  }

  // Returns the blocks of the kept tensors of a micro-batch.
  std::vector<Block>& Kept(const Pass& pass) {
    auto& chunk = slots_[pass.chunk];
    const size_t micro_batch = pass.micro_batch;
    if (chunk.size() <= micro_batch) chunk.resize(micro_batch + 1);
    chunk[micro_batch].resize(rank_.chunks[pass.chunk]->kept, kNone);
    return chunk[micro_batch];
  }

  Block Allocate(Bytes size, TensorPool pool) {
    const auto stream = static_cast<int>(pool);
    std::optional<Block> block = allocator_.Allocate(size, stream);
    if (!block.has_value()) {
      // There is too little memory; how much it would take is still of interest.
      allocator_.set_capacity(kWithoutLimit);
      block = allocator_.Allocate(size, stream);
    }
    CHECK(block.has_value());
    return *block;
  }

  void Free(Block& held) {
    if (held != kNone) allocator_.Free(held);
    held = kNone;
  }
  void FreeAll(std::vector<Block>& blocks) {
    for (Block& held : blocks) Free(held);
  }

  const RankTensors& rank_;
  CachingAllocator allocator_;
  std::vector<std::vector<std::vector<Block>>> slots_;  // chunk, micro-batch
  std::vector<Block> own_;
  GradientMakers makers_;
  bool makes_gradients_ = false;
};

// After this number of passes in a row without a new segment, the steady state is taken to be
// reached.
constexpr int kSteadyPasses = 4;

// CopiedBytes are bytes of activations whose copies begin or end after a pass. While a copy runs,
// its bytes are held on both sides.
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
    Note(pass);
    held_ += pass.net;
    gradients_ += pass.net_gradient;
  }

  void Update() {
    const int64_t passes = most_;
    Note(rank_.update.summary);
    peak_.update_excess = Bytes(most_ - passes);
  }

  // Counts bytes that are being copied on both sides.
  void Copy(const CopiedBytes& copied) {
    held_ += copied.device;
    host_ += copied.host;
    Note({});
    peak_.host = std::max(peak_.host, Bytes(host_));
    held_ -= copied.gone;
    host_ -= copied.back;
  }

  RankPeak Done() {
    peak_.allocated += Bytes(most_);
    return peak_;
  }

 private:
  void Note(const PassSummary& pass) {
    if (held_ + pass.peak <= most_) return;
    most_ = held_ + pass.peak;
    peak_.gradients = Bytes(gradients_ + pass.peak_gradient);
    peak_.activations = Bytes(held_ - gradients_ + pass.peak_activation);
    peak_.workspace =
        rank_.workspace + Bytes(pass.peak - pass.peak_activation - pass.peak_gradient);
  }

  const RankTensors& rank_;
  RankPeak peak_;
  int64_t held_ = 0;
  int64_t gradients_ = 0;  // the part of it in gradients that backwards have made
  int64_t most_ = 0;
  int64_t host_ = 0;
};

}  // namespace

bool GradientMakers::Makes(int chunk, Phase phase) {
  Made& made = made_[chunk];
  const bool is_first = phase == Phase::kBackwardWeight ? !made.put_off : !made.now;
  if (IsBackward(phase)) made.now = true;
  if (MakesWeightGradients(phase)) made.put_off = true;
  return is_first;
}

Bytes RankTensors::Offloaded(int chunk) const {
  const int64_t saved = (*chunks[chunk])[Phase::kForward].summary.net;
  return Bytes(std::llround(offloaded * static_cast<double>(saved)));
}

RankPeak WalkRank(const RankTensors& rank, const PassOrder& order) {
  const std::vector<CopiedBytes> copies = CopiesOf(rank, order);
  Walk walk(rank);
  GradientMakers makers(rank.chunks.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const ChunkPass& pass = (*rank.chunks[order[i].chunk])[order[i].phase];
    walk.Run(makers.Makes(order[i].chunk, order[i].phase) ? pass.summary : pass.later);
    if (!copies.empty()) walk.Copy(copies[i]);
  }
  walk.Update();
  return walk.Done();
}

Reservation ReservationOf(const RankTensors& rank, const PassOrder& order, Bytes capacity) {
  Replay replay(rank, capacity);
  const int passes = std::min(kReplayedPasses, static_cast<int>(order.size()));
  Bytes reserved = replay.peak_reserved();
  int steady = 0;
  for (int i = 0; i < passes && steady < kSteadyPasses; ++i) {
    replay.Run(order[i]);
    steady = reserved == replay.peak_reserved() ? steady + 1 : 0;
    reserved = replay.peak_reserved();
  }
  if (replay.peak_allocated() == Bytes()) return {};
  Reservation reservation;
  reservation.share =
      static_cast<double>(reserved.count()) / static_cast<double>(replay.peak_allocated().count());
  replay.Update();
  reservation.update = replay.peak_reserved() - reserved;
  return reservation;
}

}  // namespace stagecraft
