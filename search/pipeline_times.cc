#include "search/pipeline_times.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stagecraft {
namespace {

// Returns the time of all parts before each part; `own` are the times of parts 0, 1, ...
std::vector<Duration> Before(const std::vector<Duration>& own) {
  std::vector<Duration> before(own.size());
  for (size_t i = 1; i < own.size(); ++i) before[i] = before[i - 1] + own[i - 1];
  return before;
}

}  // namespace

PipelineTimes::PipelineTimes(const ChunkMap& map, const PartTimes& parts, const PipelineEnds& ends)
    : stages_(map.chains()) {
  const std::vector<Duration> forwards_before = Before(parts.forward);
  const std::vector<Duration> backwards_before = Before(parts.backward);
  for (int stage = 0; stage < map.stages(); ++stage) {
    Duration head = Duration::Max(), tail = Duration::Max(), all;
    std::vector<Duration> by_chain(map.chains());
    for (int chunk = 0; chunk < map.chunks(); ++chunk) {
      const ChunkMap::Part part = map.PartAt({stage, chunk});
      const Duration passes = parts.forward[part.index] + parts.backward[part.index];
      by_chain[part.chain] += passes;
      all += passes;
      head = std::min(head, forwards_before[part.index]);
      tail = std::min(tail, backwards_before[part.index]);
    }
    Duration rest = (ends.fills ? head : Duration()) + (ends.drains ? tail : Duration());
    for (int chain = 0; chain < map.chains(); ++chain) {
      stages_[chain].push_back({all, rest});
      rest += by_chain[chain];
    }
  }
  for (std::vector<Stage>& stages : stages_) {
    // A stage is never the last if another has no less of both.
    std::sort(stages.begin(), stages.end(), [](const Stage& a, const Stage& b) {
      return a.per_round != b.per_round ? a.per_round > b.per_round : a.rest > b.rest;
    });
    size_t kept = 1;
    for (size_t i = 1; i < stages.size(); ++i) {
      if (stages[i].rest > stages[kept - 1].rest) stages[kept++] = stages[i];
    }
    stages.resize(kept);
  }
}

Duration PipelineTimes::Of(int64_t micro_batches) const {
  const auto chains = static_cast<int64_t>(stages_.size());
  const int64_t rounds = micro_batches / chains;
  Duration longest;
  for (const Stage& stage : stages_[micro_batches % chains]) {
    longest = std::max(longest, rounds * stage.per_round + stage.rest);
  }
  return longest;
}

}  // namespace stagecraft
