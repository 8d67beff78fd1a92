#include "search/plan_bound.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/pipeline/chunk_map.h"

namespace stagecraft {
namespace {

// One pipeline: a worker for each stage.
class PipelineBound {
 public:
  PipelineBound(const Plan& plan, const ProbedStep& step, std::vector<const ProbedWorker*> workers)
      : plan_(plan),
        step_(step),
        map_(MapOf(plan)),
        workers_(std::move(workers)),
        micro_batches_(ReplicaMicroBatches(plan, 0, workers_[0]->replica)) {
    FindChains();
  }

  // Returns a time before which some passes or reductions of the pipeline are not over.
  Duration PassesEnd() const {
    Duration end;
    for (int stage = 0; stage < map_.stages(); ++stage) {
      end = std::max({end, ComputeEnd(stage), TrafficEnd(stage)});
    }
    return end;
  }

 private:
  const ProbedChunk& At(ChunkMap::Part part) const {
    const ChunkMap::Place place = map_.PlaceOf(part);
    return workers_[place.stage]->chunks[place.chunk];
  }

  // Adds up what one micro-batch takes on its way to each part, forwards and backwards.
  void FindChains() {
    for (int chain = 0; chain < map_.chains(); ++chain) {
      std::vector<Duration>& there = to_part_.emplace_back(map_.length());
      std::vector<Duration>& back = from_part_.emplace_back(map_.length());
      Duration& all = all_forwards_.emplace_back();
      Duration& all_back = all_backwards_.emplace_back();
      for (int index = 0; index < map_.length(); ++index) {
        const ProbedChunk& chunk = At({chain, index});
        there[index] = all;
        // Its backward sends to the part before.
        all_back += chunk.backward_send;
        back[index] = all_back;
        all += chunk.forward.alone + chunk.forward_send;
        all_back += chunk.backward.alone;
      }
    }
  }

  // Returns when the stage's passes are over, with what must follow the last of them.
  Duration ComputeEnd(int stage) const {
    const ProbedWorker& worker = *workers_[stage];
    Duration busy, busy_sending, host, first_excess;
    Duration head = Duration::Max(), host_head = Duration::Max(), tail = Duration::Max();
    Duration tail_sending = Duration::Max();
    for (int c = 0; c < map_.chunks(); ++c) {
      const ProbedChunk& chunk = worker.chunks[c];
      const ChunkMap::Part part = map_.PartAt({stage, c});
      const int64_t share = map_.MicroBatches(part.chain, micro_batches_);
      busy += share * (chunk.forward.next + chunk.backward.next + chunk.weights.next);
      // A message that blocks the stage may run beside a gather for its next pass.
      busy_sending += share * (chunk.forward.alone + chunk.backward.alone + chunk.weights.alone +
                               chunk.forward_send + chunk.backward_send);
      host += share * (chunk.forward.host + chunk.backward.host + chunk.weights.host);
      first_excess = std::max(first_excess, chunk.forward.next - chunk.forward.alone);
      const Duration begin = to_part_[part.chain][part.index];
      head = std::min(head, begin);
      host_head = std::min(host_head, chunk.forward.waits ? begin : Duration());
      const Duration before =
          step_.splits_backward ? Duration() : from_part_[part.chain][part.index];
      const Duration after = std::max({before, LeftToReduce(chunk), worker.late_reductions});
      tail = std::min(tail, after);
      // The message of the last backward is among those that block the stage.
      tail_sending = std::min(tail_sending, std::max(Duration(), after - chunk.backward_send));
    }
    const Duration computed = head + (busy - first_excess) + tail;
    const Duration sent = worker.sends_block ? head + busy_sending + tail_sending : Duration();
    return std::max({computed, sent, host_head + host + worker.late_reductions});
  }

  // Returns how long the reductions of a chunk's last backward go on after it, if it is the last
  // pass of the stage.
  Duration LeftToReduce(const ProbedChunk& chunk) const {
    const ProbedPass& last = step_.splits_backward ? chunk.weights : chunk.backward;
    Duration reductions, longest;
    for (size_t i = std::min(last.reductions.size(), last.ends.size()); i-- > 0;) {
      reductions += last.reductions[i];
      longest = std::max(longest, last.ends[i] + reductions - last.next);
    }
    return longest;
  }

  // Returns when the exchanges beside the stage's passes are over, if every pass has some.
  Duration TrafficEnd(int stage) const {
    if (plan_.zero < 2) return Duration();
    Duration work, head = Duration::Max(), ahead, first = Duration::Max();
    for (int c = 0; c < map_.chunks(); ++c) {
      const ProbedChunk& chunk = workers_[stage]->chunks[c];
      const ChunkMap::Part part = map_.PartAt({stage, c});
      const int64_t share = map_.MicroBatches(part.chain, micro_batches_);
      for (const ProbedPass* pass : {&chunk.forward, &chunk.backward, &chunk.weights}) {
        Duration each = pass->gathers;
        for (const Duration reduction : pass->reductions) each += reduction;
        work += share * each;
        ahead = std::max(ahead, pass->longest_gather);
      }
      head = std::min(head, to_part_[part.chain][part.index]);
      const Duration passes_back =
          all_backwards_[part.chain] - from_part_[part.chain][part.index] - chunk.backward.alone;
      const ProbedPass& reduced = step_.splits_backward ? chunk.weights : chunk.backward;
      const Duration own = reduced.ends.empty() ? Duration() : reduced.ends[0];
      first = std::min(first, all_forwards_[part.chain] + passes_back + own);
    }
    // Two gathers may run before the first forward.
    if (plan_.zero >= 3) return work + std::max(Duration(), head - 2 * ahead);
    return work > Duration() ? first + work : work;
  }

  const Plan& plan_;
  const ProbedStep& step_;
  const ChunkMap map_;
  const std::vector<const ProbedWorker*> workers_;  // by stage
  const int micro_batches_;
  // By chain and part: the time of the forwards before the part, and of the backwards of the parts
  // before it.
  std::vector<std::vector<Duration>> to_part_, from_part_;
  std::vector<Duration> all_forwards_, all_backwards_;  // by chain
};

}  // namespace

Duration BoundOf(const ProbedStep& step, const Plan& plan) {
  std::map<int, std::vector<const ProbedWorker*>> pipelines;  // by replica
  Duration update;
  for (const ProbedWorker& worker : step.workers) {
    std::vector<const ProbedWorker*>& pipeline = pipelines[worker.replica];
    pipeline.resize(plan.stages.size());
    pipeline[worker.stage] = &worker;
    update = std::max(update, worker.update + worker.late_gathers);
  }
  Duration longest;
  for (const auto& [replica, workers] : pipelines) {
    const bool is_whole = std::none_of(workers.begin(), workers.end(),
                                       [](const ProbedWorker* worker) { return !worker; });
    if (is_whole) longest = std::max(longest, PipelineBound(plan, step, workers).PassesEnd());
  }
  // Without a norm every worker updates after its own passes.
  return longest + (step.norm > Duration() ? step.norm + update : Duration());
}

Duration PlanBound::StepTime(const Plan& plan) {
  const std::optional<ProbedStep> step = StepProbe(problem_, memories_->local()).Measure(plan);
  return step ? BoundOf(*step, plan) : Duration();
}

}  // namespace stagecraft
