#include "sim/pipeline/list_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "costmodel/check.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/pass_slots.h"
#include "sim/pipeline/prefix_least.h"

namespace stagecraft {
namespace {

// One stage's memory. Micro-batches of all chains have one rank: 0 is the first of the
// first chain, then that of the second. Were all below rank k done and gone, k must still
// come through: what would then be left beyond its need is k's slack, never below zero.
class StageMemory {
 public:
  StageMemory(int64_t limit, const std::vector<int64_t>& needs)
      : slack_(Slacks(limit, needs)), is_limited_(true) {}
  StageMemory() : slack_({}) {}

  bool Fits(size_t rank, int64_t amount) const {
    return !is_limited_ || slack_.Least(rank) >= amount;
  }
  // All below `rank` have as much less; its own need is as much lower.
  void Take(size_t rank, int64_t amount) {
    if (is_limited_) slack_.Add(rank, -amount);
  }
  void Give(size_t rank, int64_t amount) {
    if (is_limited_) slack_.Add(rank + 1, amount);
  }

 private:
  static std::vector<int64_t> Slacks(int64_t limit, std::vector<int64_t> needs) {
    for (int64_t& need : needs) need = limit - need;
    return needs;
  }

  PrefixLeast slack_;
  bool is_limited_ = false;
};

class ListScheduler {
 public:
  ListScheduler(const ChunkMap& map, int micro_batches, const PipelineCosts& costs,
                const ListScheduling& options)
      : map_(map),
        costs_(costs),
        options_(options),
        slots_(map, micro_batches),
        arrival_(slots_.size(), Duration::Max()),
        free_(map.stages()),
        done_(static_cast<size_t>(map.stages()) * map.chunks()),
        orders_(map.stages()) {
    for (int stage = 0; stage < map.stages(); ++stage) {
      memory_.push_back(MemoryOf(stage, micro_batches));
      for (int chunk = 0; chunk < map.chunks(); ++chunk) {
        if (map.PartAt({stage, chunk}).index == 0) AddSource(stage, chunk);
      }
    }
  }

  PipelineOrders Run() {
    while (!events_.empty()) {
      const auto [now, stage] = events_.top();
      events_.pop();
      if (free_[stage] <= now) RunNext(stage, now);
    }
    return std::move(orders_);
  }

 private:
  // Passes of a chunk that have begun, of each kind from micro-batch 0 on.
  struct Done {
    int forward = 0, backward = 0, weight = 0;
  };
  using Event = std::pair<Duration, int>;  // a stage has something new, or is free

  Done& DoneAt(int stage, int chunk) {
    return done_[static_cast<size_t>(stage) * map_.chunks() + chunk];
  }
  size_t RankOf(int stage, const Pass& pass) const {
    const int chain = map_.PartAt({stage, pass.chunk}).chain;
    return static_cast<size_t>(pass.micro_batch) * map_.chains() + chain;
  }
  Phase BackwardPhase() const {
    return options_.split_backward ? Phase::kBackwardInput : Phase::kBackward;
  }

  StageMemory MemoryOf(int stage, int micro_batches) const {
    if (options_.limits.empty()) return {};
    std::vector<int64_t> of_chain(map_.chains());
    for (int chunk = 0; chunk < map_.chunks(); ++chunk) {
      const PassMemory& memory = options_.memory[stage][chunk];
      CHECK(0 <= memory.after_input && memory.after_input <= memory.after_forward);
      of_chain[map_.PartAt({stage, chunk}).chain] += memory.after_forward;
    }
    std::vector<int64_t> needs;
    for (int b = 0; b < map_.MicroBatches(0, micro_batches); ++b) {
      needs.insert(needs.end(), of_chain.begin(), of_chain.end());
    }
    const int64_t most = *std::max_element(of_chain.begin(), of_chain.end());
    if (options_.limits[stage] < most) {
      throw InputError(fmt::format("stage {} may hold {}, want at least one micro-batch's {}",
                                   stage, options_.limits[stage], most));
    }
    return {options_.limits[stage], needs};
  }

  // Where micro-batches enter.
  void AddSource(int stage, int chunk) {
    for (int b = 0; b < slots_.Count({stage, chunk}); ++b) {
      arrival_[slots_.Of(stage, {Phase::kForward, static_cast<int16_t>(chunk), b})] = Duration();
    }
    events_.push({Duration(), stage});
  }

  bool IsThere(int stage, const Pass& pass, Duration now) const {
    return pass.micro_batch < slots_.Count({stage, pass.chunk}) &&
           arrival_[slots_.Of(stage, pass)] <= now;
  }

  // The lowest of one kind; its micro_batch is -1 where there is none.
  Pass FindBest(int stage, Phase phase, Duration now) {
    Pass best{phase, 0, -1};
    for (int chunk = 0; chunk < map_.chunks(); ++chunk) {
      const Done& done = DoneAt(stage, chunk);
      const int next = phase == Phase::kForward          ? done.forward
                       : phase == Phase::kBackwardWeight ? done.weight
                                                         : done.backward;
      const Pass pass{phase, static_cast<int16_t>(chunk), next};
      if (phase == Phase::kBackwardWeight) {
        if (next == done.backward) continue;
      } else if (!IsThere(stage, pass, now)) {
        continue;
      }
      if (best.micro_batch >= 0 && RankOf(stage, best) <= RankOf(stage, pass)) continue;
      if (phase == Phase::kForward && !FitsMemory(stage, pass)) continue;
      best = pass;
    }
    return best;
  }

  bool FitsMemory(int stage, const Pass& pass) const {
    return options_.limits.empty() ||
           memory_[stage].Fits(RankOf(stage, pass),
                               options_.memory[stage][pass.chunk].after_forward);
  }

  void RunNext(int stage, Duration now) {
    Pass pass = FindBest(stage, BackwardPhase(), now);
    if (pass.micro_batch < 0) pass = FindBest(stage, Phase::kForward, now);
    if (pass.micro_batch < 0 && options_.split_backward) {
      pass = FindBest(stage, Phase::kBackwardWeight, now);
    }
    if (pass.micro_batch < 0) return;
    Count(stage, pass);
    Account(stage, pass);
    orders_[stage].push_back(pass);
    const Duration end = now + TimeOf(costs_.times[stage][pass.chunk], pass.phase);
    free_[stage] = end;
    events_.push({end, stage});
    HandOn(stage, pass, now);
  }

  void Count(int stage, const Pass& pass) {
    Done& done = DoneAt(stage, pass.chunk);
    ++(pass.phase == Phase::kForward          ? done.forward
       : pass.phase == Phase::kBackwardWeight ? done.weight
                                              : done.backward);
  }

  void Account(int stage, const Pass& pass) {
    if (options_.limits.empty()) return;
    const PassMemory& memory = options_.memory[stage][pass.chunk];
    const size_t rank = RankOf(stage, pass);
    if (pass.phase == Phase::kForward) {
      memory_[stage].Take(rank, memory.after_forward);
    } else if (pass.phase == Phase::kBackward) {
      memory_[stage].Give(rank, memory.after_forward);
    } else if (pass.phase == Phase::kBackwardInput) {
      memory_[stage].Give(rank, memory.after_forward - memory.after_input);
    } else {
      memory_[stage].Give(rank, memory.after_input);
    }
  }

  void HandOn(int stage, const Pass& pass, Duration now) {
    const Duration end = free_[stage];
    if (pass.phase == Phase::kBackwardWeight) return;
    PassSlots::Located next = slots_.Receiver(stage, pass);
    if (next.stage < 0) {
      // The last part turns a micro-batch round.
      if (pass.phase != Phase::kForward) return;
      next = {stage, {BackwardPhase(), pass.chunk, pass.micro_batch}};
    }
    const Duration arrival = end + costs_.Transfer(stage, next.stage);
    arrival_[slots_.Of(next.stage, next.pass)] = arrival;
    // A stage that is still busy then looks again at its end.
    if (arrival > free_[next.stage] || free_[next.stage] <= now)
      events_.push({arrival, next.stage});
  }

  const ChunkMap map_;
  const PipelineCosts& costs_;
  const ListScheduling& options_;
  const PassSlots slots_;
  std::vector<Duration> arrival_;  // by slot: of what another part hands over
  std::vector<Duration> free_;     // by stage
  std::vector<Done> done_;         // by place
  std::vector<StageMemory> memory_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  PipelineOrders orders_;
};

}  // namespace

PipelineOrders ListScheduledOrders(const ChunkMap& map, int micro_batches,
                                   const PipelineCosts& costs, const ListScheduling& options) {
  return ListScheduler(map, micro_batches, costs, options).Run();
}

}  // namespace stagecraft
