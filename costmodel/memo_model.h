// MemoModel: remembers the estimates of another model. For searches, which ask for the same ops
// over and over.
#pragma once

#include <cstddef>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/sparse_product.h"

namespace stagecraft {

// Gives the same estimates as the model behind it, in less than 0.1 us for an op that it has seen.
// A sparse product can run as dense ops, whose estimates are remembered too: the GEMM among them is
// the same however many entries there are. Predict() may be called from any thread. It remembers at
// most `most` estimates for each device, of some 400 bytes each, and asks the other model each time
// for any further op. The number of devices has no limit, since callers have only the few GPU types
// of a cluster.
class MemoModel : public CostModel {
 public:
  // `model` must outlive this one.
  explicit MemoModel(const CostModel& model, size_t most = kMostEstimates)
      : model_(model), most_(most) {}

  static constexpr size_t kMostEstimates = 1'000'000;

  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override;

 private:
  struct Memory {
    Device device;
    std::shared_mutex mutex;
    std::unordered_map<Op, Estimate> estimates;
  };
  // Returns what is remembered of the ops, and has `price` say the others.
  std::vector<Estimate> Recall(std::span<const Op> ops, const Device& device,
                               const PriceOps& price) const;
  Memory& MemoryOf(const Device& device) const;

  const CostModel& model_;
  const size_t most_;                // estimates for each device
  mutable std::shared_mutex mutex_;  // guards the list, not its elements
  mutable std::vector<std::unique_ptr<Memory>> memories_;
};

}  // namespace stagecraft
