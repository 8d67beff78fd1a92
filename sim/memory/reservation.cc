#include "sim/memory/reservation.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hash.h"

namespace stagecraft {
namespace {

constexpr Bytes kWithoutLimit(int64_t{1} << 60);

// After this number of passes in a row without a new segment, the steady state is taken to be
// reached.
constexpr int kSteadyPasses = 4;

// Replays passes through an allocator, which has a stream for each pool of tensors.
class Replay {
 public:
  // Begins with what the rank holds all the time; the allocator must hold nothing.
  Replay(const RankTensors& rank, CachingAllocator& allocator)
      : rank_(rank),
        allocator_(allocator),
        slots_(rank.chunks.size()),
        makers_(rank.chunks.size()) {
    const ModelStates& states = rank.states;
    for (const Bytes buffer :
         {states.weights, states.gradients, states.optimizer, rank.workspace, rank.messages}) {
      if (buffer != Bytes()) Allocate(buffer, TensorPool::kCompute);
    }
  }

  // Runs the first passes of an order, until they need no more segments.
  void Run(const PassOrder& order) {
    const int passes = std::min(kReplayedPasses, static_cast<int>(order.size()));
    Bytes reserved = allocator_.peak_reserved();
    int steady = 0;
    for (int i = 0; i < passes && steady < kSteadyPasses; ++i) {
      Run(order[i]);
      steady = reserved == allocator_.peak_reserved() ? steady + 1 : 0;
      reserved = allocator_.peak_reserved();
    }
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

 private:
  using Block = CachingAllocator::Block;
  static constexpr Block kNone = -1;

  void Run(const Pass& pass) {
    const ChunkTensors& chunk = *rank_.chunks[pass.chunk];
    std::vector<Block>& kept = Kept(pass);
    makes_gradients_ = makers_.Makes(pass.chunk, pass.phase);
    Run(chunk[pass.phase].tensors, chunk.kept, chunk.tensors, kept);
  }

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
  CachingAllocator& allocator_;
  std::vector<std::vector<std::vector<Block>>> slots_;  // chunk, micro-batch
  std::vector<Block> own_;
  GradientMakers makers_;
  bool makes_gradients_ = false;
};

Reservation ReservationFrom(Bytes reserved, Bytes allocated, Bytes update) {
  if (allocated == Bytes()) return {};
  Reservation reservation;
  reservation.share =
      static_cast<double>(reserved.count()) / static_cast<double>(allocated.count());
  reservation.update = update;
  return reservation;
}

}  // namespace

Reservation ReservationOf(const RankTensors& rank, const PassOrder& order, Bytes capacity) {
  CachingAllocator allocator(capacity, kTensorPools);
  Replay replay(rank, allocator);
  replay.Run(order);
  const Bytes reserved = allocator.peak_reserved();
  const Bytes allocated = allocator.peak_allocated();
  replay.Update();
  return ReservationFrom(reserved, allocated, allocator.peak_reserved() - reserved);
}

Reservations::Reservations() : allocator_(kWithoutLimit, kTensorPools) {}

Reservation Reservations::Find(const RankTensors& rank, const PassOrder& order, Bytes capacity,
                               Bytes live) {
  const auto passes = std::min(order.size(), static_cast<size_t>(kReplayedPasses));
  Key key{.chunks = rank.chunks,
          .update = rank.update.tensors,
          .order = {order.begin(), order.begin() + static_cast<ptrdiff_t>(passes)},
          .left = {},
          .room = kWithoutLimit};
  allocator_.Reset(kWithoutLimit);
  Bytes held, reserved, room;
  std::optional<Replay> replay;
  const auto begin = [&] {
    replay.emplace(rank, allocator_);
    held = allocator_.allocated();
    reserved = allocator_.reserved();
  };
  begin();
  key.left = allocator_.FreePieces();
  room = capacity - reserved;
  const auto growth_within = [&](Bytes limit) {
    key.room = limit;
    const auto found = growths_.find(key);
    if (found != growths_.end()) return found->second;
    if (!replay) {
      allocator_.Reset(kWithoutLimit);
      begin();
    }
    if (limit != kWithoutLimit) allocator_.set_capacity(reserved + limit);
    replay->Run(order);
    Growth growth;
    growth.allocated = allocator_.peak_allocated() - held;
    growth.reserved = allocator_.peak_reserved() - reserved;
    replay->Update();
    growth.update = allocator_.peak_reserved() - reserved - growth.reserved;
    replay.reset();
    return growths_.emplace(key, growth).first->second;
  };
  const auto reservation = [&](const Growth& growth) {
    return ReservationFrom(reserved + growth.reserved, held + growth.allocated, growth.update);
  };
  // What is held alone exceeds the capacity, which then limits nothing any more.
  const bool is_full = room < Bytes();
  if (is_full || live <= capacity) {
    const Growth growth = growth_within(kWithoutLimit);
    if (is_full || growth.reserved + growth.update <= room) return reservation(growth);
  }
  return reservation(growth_within(room));
}

size_t Reservations::KeyHash::operator()(const Key& key) const {
  TableHash hash;
  for (const auto& chunk : key.chunks) hash.Add(reinterpret_cast<int64_t>(chunk.get()));
  hash.Add(key.room.count()).Add(static_cast<int64_t>(key.update.events.size()));
  for (const CachingAllocator::FreePiece& piece : key.left) hash.Add(piece.size.count());
  for (const Pass& pass : key.order) {
    hash.Add(int64_t{pass.micro_batch} << 32 | int64_t{pass.chunk} << 8 |
             static_cast<int64_t>(pass.phase));
  }
  return hash.value();
}

}  // namespace stagecraft
