#include "sim/pipeline/micro_batch_memory.h"

namespace stagecraft {

MicroBatchMemory::MicroBatchMemory(int64_t limit, std::span<const int64_t> needs, int micro_batches,
                                   std::span<const int> marks)
    : chains_(needs.size()) {
  // A mark ends one rank beyond the last micro-batch of its chain.
  ranks_.reserve(chains_ * (static_cast<size_t>(micro_batches) + 1));
  for (int b = 0; b <= micro_batches; ++b) {
    for (const int64_t need : needs) ranks_.push_back({0, need});
  }
  for (const int chain : marks) {
    const auto rank = static_cast<size_t>(chain);
    marks_.push_back({rank, limit - needs[rank]});
  }
}

void MicroBatchMemory::Give(size_t mark, int64_t amount) {
  const size_t rank = marks_[mark].rank;
  ranks_[rank].held -= amount;
  ranks_[rank].rest -= amount;
  for (Mark& other : marks_) other.slack += other.rank <= rank ? amount : 0;
  Mark& own = marks_[mark];
  for (size_t i = 0; i < chains_; ++i) {
    const int64_t before = ranks_[own.rank].rest;
    ++own.rank;
    own.slack += before - ranks_[own.rank].rest + ranks_[own.rank].held;
  }
}

}  // namespace stagecraft
