#include "sim/pipeline/list_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "costmodel/check.h"
#include "sim/event_queue.h"
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
  // `needs` by rank: what all forwards of a micro-batch take.
  StageMemory(int64_t limit, std::span<const int64_t> needs) : slack_(Slacks(limit, needs)) {}

  bool Fits(size_t rank, int64_t amount) const { return slack_.Least(rank) >= amount; }
  // For a forward. All below `rank` have as much less; its own need is as much lower.
  void Take(size_t rank, int64_t amount) { slack_.Add(rank, -amount); }
  void Give(size_t rank, int64_t amount) { slack_.Add(rank + 1, amount); }

 private:
  static std::vector<int64_t> Slacks(int64_t limit, std::span<const int64_t> needs) {
    std::vector<int64_t> slacks;
    for (const int64_t need : needs) slacks.push_back(limit - need);
    return slacks;
  }

  PrefixLeast slack_;
};

// What a pass gives back.
int64_t Released(const PassMemory& memory, Phase phase) {
  switch (phase) {
    case Phase::kBackward:
      return memory.after_forward;
    case Phase::kBackwardInput:
      return memory.after_forward - memory.after_input;
    case Phase::kBackwardWeight:
      return memory.after_input;
    default:
      return 0;
  }
}

// Passes of one kind and chunk, which run in turn: when they are there, as far as known.
struct Turns {
  std::vector<Duration> arrivals;  // by micro-batch
  size_t next = 0;
  int chain = 0;

  bool IsThere(Duration now) const { return next < arrivals.size() && arrivals[next] <= now; }
};

class ListScheduler {
 public:
  ListScheduler(const ChunkMap& map, int micro_batches, const PipelineCosts& costs,
                const ListScheduling& options)
      : map_(map),
        costs_(costs),
        options_(options),
        slots_(map, micro_batches),
        turns_(static_cast<size_t>(map.stages()) * map.chunks() * PassSlots::kSlotsPerPlace),
        free_(map.stages()),
        last_(map.stages(), Phase::kBackward),
        orders_(map.stages()) {
    CHECK(options.limits.size() == options.memory.size());
    CHECK(options.limits.empty() || options.limits.size() == orders_.size());
    for (int stage = 0; stage < map.stages(); ++stage) {
      if (IsLimited()) memory_.push_back(MemoryOf(stage, micro_batches));
      orders_[stage].reserve(PassCount(stage));
      for (int chunk = 0; chunk < map.chunks(); ++chunk) AddPlace({stage, chunk});
      events_.Push(0, stage);
    }
  }

  PipelineOrders Run() {
    std::vector<Event> events;  // a stage has something new, or is free
    while (!events_.empty()) {
      const Duration now = Duration::Nanoseconds(events_.PopAll(events));
      for (const Event& event : events) {
        if (free_[event.task] <= now) RunNext(event.task, now);
      }
    }
    return std::move(orders_);
  }

 private:
  static int KindOf(Phase phase) {
    return phase == Phase::kForward ? 0 : phase == Phase::kBackwardWeight ? 2 : 1;
  }
  Turns& TurnsOf(int stage, Phase phase, int chunk) {
    const int kind = stage * PassSlots::kSlotsPerPlace + KindOf(phase);
    return turns_[static_cast<size_t>(kind) * map_.chunks() + chunk];
  }
  bool IsLimited() const { return !options_.limits.empty(); }
  // Of all chains' micro-batches.
  size_t RankOf(const Turns& turns) const { return turns.next * map_.chains() + turns.chain; }
  Phase BackwardPhase() const {
    return options_.split_backward ? Phase::kBackwardInput : Phase::kBackward;
  }

  size_t PassCount(int stage) const {
    size_t count = 0;
    for (int chunk = 0; chunk < map_.chunks(); ++chunk) count += slots_.Count({stage, chunk});
    return count * (options_.split_backward ? 3 : 2);
  }

  void AddPlace(ChunkMap::Place place) {
    const ChunkMap::Part part = map_.PartAt(place);
    const size_t count = static_cast<size_t>(slots_.Count(place));
    for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kBackwardWeight}) {
      Turns& turns = TurnsOf(place.stage, phase, place.chunk);
      turns.chain = part.chain;
      turns.arrivals.reserve(count);
    }
    // Where micro-batches enter, all are there.
    if (part.index == 0) {
      TurnsOf(place.stage, Phase::kForward, place.chunk).arrivals.assign(count, Duration());
    }
  }

  StageMemory MemoryOf(int stage, int micro_batches) const {
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
      throw InputError(
          fmt::format("list schedule: memory limit of stage {}: got {}, want at least "
                      "{}, what one micro-batch needs",
                      stage, options_.limits[stage], most));
    }
    return {options_.limits[stage], needs};
  }

  // The chunk whose next pass of a kind is to run now; -1: none.
  int FindChunk(int stage, Phase phase, Duration now) {
    int best = -1;
    size_t best_rank = 0;
    for (int chunk = map_.chunks() - 1; chunk >= 0; --chunk) {
      const Turns& turns = TurnsOf(stage, phase, chunk);
      if (!turns.IsThere(now)) continue;
      const size_t rank = RankOf(turns);
      if (best >= 0 && best_rank < rank) continue;
      if (phase == Phase::kForward && !FitsMemory(stage, chunk, rank)) continue;
      best = chunk;
      best_rank = rank;
      if (map_.chains() == 1) break;  // later chunks first
    }
    return best;
  }

  bool FitsMemory(int stage, int chunk, size_t rank) const {
    return !IsLimited() || memory_[stage].Fits(rank, options_.memory[stage][chunk].after_forward);
  }

  void RunNext(int stage, Duration now) {
    const Phase backward = BackwardPhase();
    const bool is_forward_next = last_[stage] != Phase::kForward;
    const Phase first = is_forward_next ? Phase::kForward : backward;
    const Phase second = is_forward_next ? backward : Phase::kForward;
    for (const Phase phase : {first, second, Phase::kBackwardWeight}) {
      const int chunk = FindChunk(stage, phase, now);
      if (chunk < 0) continue;
      Begin(stage, phase, chunk, now);
      return;
    }
  }

  void Begin(int stage, Phase phase, int chunk, Duration now) {
    Turns& turns = TurnsOf(stage, phase, chunk);
    Account(stage, phase, chunk, RankOf(turns));
    const Pass pass{phase, static_cast<int16_t>(chunk), static_cast<int32_t>(turns.next++)};
    orders_[stage].push_back(pass);
    if (phase != Phase::kBackwardWeight) last_[stage] = phase;
    free_[stage] = now + TimeOf(costs_.times[stage][chunk], phase);
    events_.Push(free_[stage].ns(), stage);
    HandOn(stage, pass, now);
  }

  void Account(int stage, Phase phase, int chunk, size_t rank) {
    if (!IsLimited()) return;
    const PassMemory& memory = options_.memory[stage][chunk];
    if (phase == Phase::kForward) {
      memory_[stage].Take(rank, memory.after_forward);
    } else {
      memory_[stage].Give(rank, Released(memory, phase));
    }
  }

  void HandOn(int stage, const Pass& pass, Duration now) {
    const Duration end = free_[stage];
    if (pass.phase == Phase::kBackwardInput) {
      TurnsOf(stage, Phase::kBackwardWeight, pass.chunk).arrivals.push_back(end);
    }
    const PassSlots::Located next = slots_.Receiver(stage, pass);
    if (next.stage < 0) {
      // The last part turns a micro-batch round.
      if (pass.phase == Phase::kForward) {
        TurnsOf(stage, Phase::kBackward, pass.chunk).arrivals.push_back(end);
      }
      return;
    }
    const Duration arrival = end + costs_.Transfer(stage, next.stage);
    TurnsOf(next.stage, next.pass.phase, next.pass.chunk).arrivals.push_back(arrival);
    // A stage that is still busy then looks again at its end.
    const Duration free = free_[next.stage];
    if (arrival > free || free <= now) events_.Push(arrival.ns(), next.stage);
  }

  const ChunkMap map_;
  const PipelineCosts& costs_;
  const ListScheduling& options_;
  const PassSlots slots_;
  std::vector<Turns> turns_;         // by stage, then kind, then chunk
  std::vector<Duration> free_;       // by stage
  std::vector<Phase> last_;          // by stage: forward or backward
  std::vector<StageMemory> memory_;  // by stage; empty without limits
  EventQueue events_;
  PipelineOrders orders_;
};

}  // namespace

PipelineOrders ListScheduledOrders(const ChunkMap& map, int micro_batches,
                                   const PipelineCosts& costs, const ListScheduling& options) {
  return ListScheduler(map, micro_batches, costs, options).Run();
}

}  // namespace stagecraft
