// MicroBatchShares: which replica of a stage takes which micro-batch of a step.
#pragma once

#include <span>
#include <vector>

namespace stagecraft {

class MicroBatchShares {
 public:
  // Micro-batch b goes to replica b mod replicas.
  MicroBatchShares(int micro_batches, int replicas)
      : micro_batches_(micro_batches), replicas_(replicas) {}
  // Replica r takes counts[r] of the micro-batches (at least one), spread over the step as evenly
  // as possible: its i-th one comes when (i + 1/2) / counts[r] of the step is over; if two fall
  // together, that of the lower replica is first.
  explicit MicroBatchShares(std::span<const int> counts);

  struct Position {
    int replica = 0;
    int own = 0;  // counted within the replica's own
  };
  Position Find(int micro_batch) const {
    if (positions_.empty()) return {micro_batch % replicas_, micro_batch / replicas_};
    return positions_[micro_batch];
  }
  int MicroBatch(int replica, int own) const {
    if (positions_.empty()) return own * replicas_ + replica;
    return micro_batch_of_[first_[replica] + own];
  }
  int Count(int replica) const {
    if (positions_.empty()) return (micro_batches_ - replica + replicas_ - 1) / replicas_;
    return first_[replica + 1] - first_[replica];
  }

 private:
  int micro_batches_;
  int replicas_;
  // Empty if replicas take micro-batches in turn.
  std::vector<Position> positions_;  // by micro-batch
  std::vector<int> first_;           // by replica: into micro_batch_of_
  std::vector<int> micro_batch_of_;
};

}  // namespace stagecraft
