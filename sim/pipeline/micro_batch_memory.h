// MicroBatchMemory: whether a stage that starts one more micro-batch can still bring all
// earlier ones through.
//
// Micro-batches of all chains have one rank: 0 is the first of the first chain, then that
// of the second. Were all below rank k done and gone, k must still come through: what
// would then be left of the limit beyond what it still needs is k's slack, never below
// zero. Of the ranks of a chain between two that the same backward passes have reached,
// the lowest has the least slack, so one mark for each kind of backward tells enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stagecraft {

class MicroBatchMemory {
 public:
  // `needs` of a micro-batch, by chain, at most `limit`; `marks`: the chain of each kind of
  // pass that gives memory back, which takes its micro-batches in turn.
  MicroBatchMemory(int64_t limit, std::span<const int64_t> needs, int micro_batches,
                   std::span<const int> marks);

  // Whether a forward may take so much. All in time of the marks.
  bool Fits(size_t rank, int64_t amount) const {
    for (const Mark& mark : marks_) {
      if (mark.rank < rank && mark.slack < amount) return false;
    }
    return true;
  }
  void Take(size_t rank, int64_t amount) {
    ranks_[rank].held += amount;
    for (Mark& mark : marks_) mark.slack -= mark.rank < rank ? amount : 0;
  }
  // By the pass of this mark, whose turn then goes to its chain's next micro-batch.
  void Give(size_t mark, int64_t amount);

 private:
  struct Rank {
    int64_t held = 0;
    int64_t rest = 0;  // held, or still to be taken
  };
  struct Mark {
    size_t rank = 0;  // whose turn it is
    int64_t slack = 0;
  };

  size_t chains_;
  std::vector<Rank> ranks_;
  std::vector<Mark> marks_;
};

}  // namespace stagecraft
