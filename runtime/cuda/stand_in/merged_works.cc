#include "runtime/cuda/stand_in/merged_works.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>

namespace stagecraft::stand_in {
namespace {

bool IsPlain(const Work& work) {
  return !work.effect && !work.ownership && work.gate == nullptr && work.records == nullptr;
}

Range Around(const Range& a, const Range& b) {
  const std::byte* const begin = std::min(a.begin, b.begin);
  return {begin, static_cast<size_t>(std::max(a.begin + a.bytes, b.begin + b.bytes) - begin)};
}

// Returns one range for each block of memory that the works touch. A range that lies in no block
// stays as it is, and will be reported when the graph is launched.
std::vector<Range> RangesByBlock(std::span<const WorkPointer> works, const Heap& heap) {
  std::map<const std::byte*, Range> by_block;
  std::vector<Range> ranges;
  for (const WorkPointer& work : works) {
    for (const Range& range : work->touched) {
      if (range.bytes == 0) continue;
      const std::byte* const block = heap.BlockOf(range);
      if (block == nullptr) {
        ranges.push_back(range);
        continue;
      }
      const auto [own, is_new] = by_block.try_emplace(block, range);
      if (!is_new) own->second = Around(own->second, range);
    }
  }
  for (const auto& [block, range] : by_block) ranges.push_back(range);
  return ranges;
}

void AddMerged(std::span<const WorkPointer> plain, const Heap& heap,
               std::vector<WorkPointer>& merged) {
  if (plain.size() < 2) {
    merged.insert(merged.end(), plain.begin(), plain.end());
    return;
  }
  Work first{.name = plain.front()->name + ", or one of the " + std::to_string(plain.size() - 1) +
                     " works after it in its graph,",
             .touched = RangesByBlock(plain, heap)};
  for (const WorkPointer& work : plain.first(plain.size() - 1)) first.duration += work->duration;
  Work last = *plain.back();
  if (first.touched.empty()) {
    first.duration += last.duration;
    merged.push_back(std::make_shared<const Work>(std::move(first)));
    return;
  }
  last.name = first.name;
  last.touched = first.touched;
  merged.push_back(std::make_shared<const Work>(std::move(first)));
  merged.push_back(std::make_shared<const Work>(std::move(last)));
}

}  // namespace

std::vector<WorkPointer> Merge(const std::vector<WorkPointer>& works, const Heap& heap) {
  std::vector<WorkPointer> merged;
  const std::span<const WorkPointer> all(works);
  for (size_t begin = 0; begin < works.size();) {
    size_t end = begin;
    while (end < works.size() && IsPlain(*works[end])) ++end;
    AddMerged(all.subspan(begin, end - begin), heap, merged);
    if (end < works.size()) merged.push_back(works[end++]);
    begin = end;
  }
  return merged;
}

}  // namespace stagecraft::stand_in
