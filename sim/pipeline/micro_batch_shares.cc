#include "sim/pipeline/micro_batch_shares.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

#include "costmodel/check.h"

namespace stagecraft {

MicroBatchShares::MicroBatchShares(std::span<const int> counts)
    : micro_batches_(std::accumulate(counts.begin(), counts.end(), 0)),
      replicas_(static_cast<int>(counts.size())),
      first_(1, 0) {
  const bool are_equal =
      std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
  if (are_equal && !counts.empty() && counts[0] > 0) return;  // they take micro-batches in turn
  for (int replica = 0; replica < replicas_; ++replica) {
    CHECK(counts[replica] > 0);
    for (int own = 0; own < counts[replica]; ++own) positions_.push_back({replica, own});
    first_.push_back(static_cast<int>(positions_.size()));
  }
  const auto earlier = [&](const Position& a, const Position& b) {
    const int64_t left = int64_t{2 * a.own + 1} * counts[b.replica];
    const int64_t right = int64_t{2 * b.own + 1} * counts[a.replica];
    return left != right ? left < right : a.replica < b.replica;
  };
  std::sort(positions_.begin(), positions_.end(), earlier);
  micro_batch_of_.resize(positions_.size());
  for (int b = 0; b < micro_batches_; ++b) {
    micro_batch_of_[first_[positions_[b].replica] + positions_[b].own] = b;
  }
}

}  // namespace stagecraft
