#include "runtime/planned_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Memory that the passes of a micro-batch have left behind in a chunk.
struct Kept {
  int64_t bytes = 0;
  std::vector<int32_t> blocks;
};

class AllocationMaker {
 public:
  AllocationMaker(const Schedule& schedule, int32_t rank, const PlannedMemory& memory)
      : schedule_(schedule), rank_(rank), memory_(memory) {}

  std::map<TaskId, TaskAllocations> Make(std::span<const TaskId> order) {
    for (size_t first = 0; first < order.size();) {
      size_t last = first;
      while (last + 1 < order.size() && schedule_.tag(order[last + 1]).segment > 0) ++last;
      if (IsPass(schedule_.tag(order[first]).phase)) AddPass(order[first], order[last]);
      first = last + 1;
    }
    for (auto& [key, kept] : kept_) Drop(kept, order.back());
    return std::move(allocations_);
  }

 private:
  void AddPass(TaskId first, TaskId last) {
    const Tag& tag = schedule_.tag(first);
    if (tag.chunk < 0 || static_cast<size_t>(tag.chunk) >= memory_.chunks.size()) {
      throw InputError(
          fmt::format("run: rank {}: got a pass through chunk {}, want one of the {} "
                      "whose memory is planned",
                      rank_, tag.chunk, memory_.chunks.size()));
    }
    const PassHolding& pass = memory_.chunks[tag.chunk][static_cast<size_t>(tag.phase)];
    Kept& kept = kept_[{tag.chunk, tag.micro_batch}];
    const int64_t left = std::max<int64_t>(0, pass.left);
    if (left > 0) kept.blocks.push_back(Allocate(left, allocations_[first].at_begin));
    kept.bytes += pass.left;
    const int64_t own = pass.most.count() - left;
    if (own > 0) {
      const int32_t block = Allocate(own, allocations_[first].at_begin);
      allocations_[last].freed.push_back(block);
    }
    if (pass.left >= 0) return;
    const int64_t still_kept = kept.bytes;
    Drop(kept, last);
    if (still_kept <= 0) return;
    kept.bytes = still_kept;
    kept.blocks = {Allocate(still_kept, allocations_[last].at_end)};
  }

  int32_t Allocate(int64_t bytes, std::vector<Allocation>& into) {
    into.push_back({next_block_, Bytes(bytes)});
    return next_block_++;
  }

  void Drop(Kept& kept, TaskId task) {
    if (kept.blocks.empty()) return;
    std::vector<int32_t>& freed = allocations_[task].freed;
    freed.insert(freed.end(), kept.blocks.begin(), kept.blocks.end());
    kept = {};
  }

  const Schedule& schedule_;
  const int32_t rank_;
  const PlannedMemory& memory_;
  int32_t next_block_ = 0;
  std::map<std::pair<int, int>, Kept> kept_;  // by chunk and micro-batch
  std::map<TaskId, TaskAllocations> allocations_;
};

}  // namespace

std::map<TaskId, TaskAllocations> PassAllocations(const Schedule& schedule, int32_t rank,
                                                  const PlannedMemory& memory) {
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.rank != rank || info.kind != LaneKind::kCompute) continue;
    return AllocationMaker(schedule, rank, memory).Make(schedule.order(Lane(lane)));
  }
  return {};
}

}  // namespace stagecraft
