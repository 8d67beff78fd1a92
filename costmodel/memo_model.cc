#include "costmodel/memo_model.h"

#include <mutex>

namespace stagecraft {

namespace {

// Whether ops take the same time on both: how much memory a device has does not matter.
bool TakeSameTime(const Device& a, const Device& b) {
  if (a.memory == b.memory) return a == b;
  if (a.id != b.id) return false;  // spares a copy
  Device same = a;
  same.memory = b.memory;
  return same == b;
}

}  // namespace

MemoModel::Memory& MemoModel::MemoryOf(const Device& device) const {
  const auto find = [&]() -> Memory* {
    for (const auto& memory : memories_) {
      if (TakeSameTime(memory->device, device)) return memory.get();
    }
    return nullptr;
  };
  {
    const std::shared_lock lock(mutex_);
    if (Memory* memory = find()) return *memory;
  }
  const std::unique_lock lock(mutex_);
  if (Memory* memory = find()) return *memory;
  memories_.push_back(std::make_unique<Memory>());
  memories_.back()->device = device;
  return *memories_.back();
}

std::vector<Estimate> MemoModel::Predict(std::span<const Op> ops, const Device& device) const {
  const auto of_model = [&](std::span<const Op> unseen) { return model_.Predict(unseen, device); };
  return Recall(ops, device, [&](std::span<const Op> unseen) {
    return PriceWithSparse(
        unseen, [&](std::span<const Op> dense) { return Recall(dense, device, of_model); });
  });
}

std::vector<Estimate> MemoModel::Recall(std::span<const Op> ops, const Device& device,
                                        const PriceOps& price) const {
  Memory& memory = MemoryOf(device);
  std::vector<Estimate> estimates(ops.size());
  std::vector<Op> unseen;
  std::vector<size_t> unseen_at;
  {
    const std::shared_lock lock(memory.mutex);
    for (size_t i = 0; i < ops.size(); ++i) {
      const auto found = memory.estimates.find(ops[i]);
      if (found != memory.estimates.end()) {
        estimates[i] = found->second;
      } else {
        unseen.push_back(ops[i]);
        unseen_at.push_back(i);
      }
    }
  }
  if (unseen.empty()) return estimates;
  const std::vector<Estimate> fresh = price(unseen);
  const std::unique_lock lock(memory.mutex);
  for (size_t i = 0; i < unseen.size(); ++i) {
    estimates[unseen_at[i]] = fresh[i];
    if (memory.estimates.size() < most_) memory.estimates.emplace(unseen[i], fresh[i]);
  }
  return estimates;
}

}  // namespace stagecraft
