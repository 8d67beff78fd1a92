// MicroBatchMemory: whether a stage that starts one more micro-batch still has the memory to finish
// all earlier ones.
//
// The micro-batches of all chains are ranked together: rank 0 is the first of the first chain, rank
// 1 the first of the second chain, and so on. Suppose that all micro-batches of ranks below k have
// finished and given back their memory: k must then be able to finish, too. The slack of k is what
// is then left of the limit beyond what k still needs; it is never negative. Of the ranks of a
// chain that have had the same backward passes, the lowest has the least slack, so that one mark
// for each kind of backward is enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stagecraft {

class MicroBatchMemory {
 public:
  // `needs`: what a micro-batch takes in all, by chain, at most `limit`. `marks`: for each kind of
  // pass that gives memory back the chain whose micro-batches it takes in turn.
  MicroBatchMemory(int64_t limit, std::span<const int64_t> needs, int micro_batches,
                   std::span<const int> marks);

  // Whether a forward of this rank may take `amount`. Linear in the marks.
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
  // Gives back memory after the next pass of this mark, whose turn then goes to the next
  // micro-batch of its chain.
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
