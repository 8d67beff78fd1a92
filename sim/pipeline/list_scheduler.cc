#include "sim/pipeline/list_scheduler.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "sim/pipeline/earliest.h"
#include "sim/pipeline/micro_batch_memory.h"
#include "sim/pipeline/order_times.h"

namespace stagecraft {
namespace {

// The memory that a pass gives back.
int64_t Released(const PassMemory& memory, Phase phase) {
  switch (phase) {
    case Phase::kBackward:
      return memory.after_forward;
    case Phase::kBackwardInput:
      return memory.after_forward - memory.after_input;
    default:
      return memory.after_input;
  }
}

// The passes of one kind in one chunk, which run in turn.
struct Turns {
  Phase phase;
  int chain;
  Duration time;   // of one pass
  int64_t memory;  // that a forward takes, or another pass gives back
  // The turns that wait for these, and their stage; -1 if there are none.
  int next_stage = -1;
  int next_turns = -1;
  Duration transfer = {};
  std::vector<Duration> arrivals = {};  // by micro-batch
  size_t arrived = 0;
  size_t next = 0;
};

class ListScheduler {
 public:
  ListScheduler(const ChunkMap& map, int micro_batches, const PipelineCosts& costs,
                const ListScheduling& options)
      : map_(map),
        micro_batches_(micro_batches),
        costs_(costs),
        options_(options),
        kinds_(options.split_backward ? 3 : 2),
        stages_(map.stages()),
        clocks_(map.stages()) {
    CHECK(options.limits.size() == options.memory.size());
    CHECK(options.limits.empty() || options.limits.size() == stages_.size());
    for (int stage = 0; stage < map.stages(); ++stage) {
      for (int kind = 0; kind < kinds_; ++kind) {
        for (int chunk = 0; chunk < map.chunks(); ++chunk) AddTurns({stage, chunk}, PhaseOf(kind));
      }
      if (IsLimited()) AddMemory(stage);
      size_t passes = 0;
      for (const Turns& turns : stages_[stage].turns) passes += turns.arrivals.size();
      stages_[stage].order.reserve(passes);
    }
  }

  PassOrders Run() {
    while (clocks_.Time() < Duration::Max()) {
      const int stage = clocks_.Index();
      const Duration now = clocks_.Time();
      const int turns = FindTurns(stages_[stage], now);
      if (turns >= 0) {
        Begin(stage, turns, now);
      } else {
        clocks_.Set(stage, NextArrival(stages_[stage], now));
      }
    }
    PassOrders orders;
    for (Stage& stage : stages_) orders.push_back(std::move(stage.order));
    return orders;
  }

 private:
  enum Kind { kForwards, kBackwards, kWeights };

  struct Stage {
    std::vector<Turns> turns;  // by kind, then chunk
    // When the input of the next pass of each arrives; Duration::Max() as long as that is not
    // known.
    std::vector<Duration> arrivals;
    std::optional<MicroBatchMemory> memory;
    Kind last = kBackwards;  // forwards or backwards
    Duration free;
    PassOrder order;
  };

  bool IsLimited() const { return !options_.limits.empty(); }
  int IndexOf(int kind, int chunk) const { return kind * map_.chunks() + chunk; }
  Phase PhaseOf(int kind) const {
    if (kind == kForwards) return Phase::kForward;
    if (kind == kWeights) return Phase::kBackwardWeight;
    return options_.split_backward ? Phase::kBackwardInput : Phase::kBackward;
  }
  // The rank of the next pass among the micro-batches of all chains.
  size_t RankOf(const Turns& turns) const { return turns.next * map_.chains() + turns.chain; }

  void AddTurns(ChunkMap::Place place, Phase phase) {
    const ChunkMap::Part part = map_.PartAt(place);
    Turns turns{.phase = phase,
                .chain = part.chain,
                .time = TimeOf(costs_.times[place.stage][place.chunk], phase),
                .memory = 0};
    if (IsLimited()) {
      const PassMemory& memory = options_.memory[place.stage][place.chunk];
      CHECK(0 <= memory.after_input && memory.after_input <= memory.after_forward);
      turns.memory = phase == Phase::kForward ? memory.after_forward : Released(memory, phase);
    }
    const auto count = static_cast<size_t>(map_.MicroBatches(part.chain, micro_batches_));
    turns.arrivals.resize(count);
    SetReceiver(place, part, turns);
    // The first part of a chain has all its micro-batches from the start.
    const bool are_there = phase == Phase::kForward && part.index == 0;
    if (are_there) turns.arrived = count;
    Stage& stage = stages_[place.stage];
    stage.arrivals.push_back(are_there && count > 0 ? Duration() : Duration::Max());
    stage.turns.push_back(std::move(turns));
  }

  void SetReceiver(ChunkMap::Place place, ChunkMap::Part part, Turns& turns) const {
    if (turns.phase == Phase::kBackwardWeight) return;
    const bool is_forward = turns.phase == Phase::kForward;
    part.index += is_forward ? 1 : -1;
    if (part.index < 0) return;
    // After the last part a micro-batch turns back.
    const bool turns_round = part.index == map_.length();
    const ChunkMap::Place next = turns_round ? place : map_.PlaceOf(part);
    turns.next_stage = next.stage;
    turns.next_turns = IndexOf(is_forward && !turns_round ? kForwards : kBackwards, next.chunk);
    if (!turns_round) turns.transfer = costs_.Transfer(place.stage, next.stage);
  }

  void AddMemory(int stage) {
    std::vector<int64_t> needs(map_.chains());
    std::vector<int> marks;
    for (const Turns& turns : stages_[stage].turns) {
      if (turns.phase == Phase::kForward) {
        needs[turns.chain] += turns.memory;
      } else {
        marks.push_back(turns.chain);
      }
    }
    const int64_t most = *std::max_element(needs.begin(), needs.end());
    if (options_.limits[stage] < most) {
      throw InputError(
          fmt::format("list schedule: memory limit of stage {}: got {}, want at least "
                      "{}, what one micro-batch needs",
                      stage, options_.limits[stage], most));
    }
    stages_[stage].memory.emplace(options_.limits[stage], needs,
                                  map_.MicroBatches(0, micro_batches_), marks);
  }

  // Returns the turns whose next pass is to run now; -1 if there are none.
  int FindTurns(const Stage& stage, Duration now) const {
    const Kind first = stage.last == kForwards ? kBackwards : kForwards;
    for (const Kind kind : {first, first == kForwards ? kBackwards : kForwards, kWeights}) {
      if (kind == kinds_) break;
      const int found = FindTurns(stage, kind, now);
      if (found >= 0) return found;
    }
    return -1;
  }

  int FindTurns(const Stage& stage, Kind kind, Duration now) const {
    int best = -1;
    size_t best_rank = 0;
    for (int i = IndexOf(kind, map_.chunks() - 1); i >= IndexOf(kind, 0); --i) {
      if (stage.arrivals[i] > now) continue;
      const Turns& turns = stage.turns[i];
      const size_t rank = RankOf(turns);
      if (best >= 0 && best_rank < rank) continue;
      if (kind == kForwards && IsLimited() && !stage.memory->Fits(rank, turns.memory)) continue;
      best = i;
      best_rank = rank;
      if (map_.chains() == 1) break;  // later chunks go first
    }
    return best;
  }

  static Duration NextArrival(const Stage& stage, Duration now) {
    Duration next = Duration::Max();
    for (const Duration arrival : stage.arrivals) {
      if (arrival > now) next = std::min(next, arrival);
    }
    return next;
  }

  void Begin(int stage_index, int index, Duration now) {
    Stage& stage = stages_[stage_index];
    Turns& turns = stage.turns[index];
    if (IsLimited()) Account(stage, index);
    const int chunk = index % map_.chunks();
    stage.order.push_back(
        {turns.phase, static_cast<int16_t>(chunk), static_cast<int32_t>(turns.next)});
    ++turns.next;
    stage.arrivals[index] =
        turns.next < turns.arrived ? turns.arrivals[turns.next] : Duration::Max();
    if (index < IndexOf(kWeights, 0)) stage.last = index < map_.chunks() ? kForwards : kBackwards;
    stage.free = now + turns.time;
    clocks_.Set(stage_index, stage.free);
    if (turns.phase == Phase::kBackwardInput) {
      HandOn(stage_index, IndexOf(kWeights, chunk), stage.free, now);
    }
    if (turns.next_stage >= 0) {
      HandOn(turns.next_stage, turns.next_turns, stage.free + turns.transfer, now);
    }
  }

  void Account(Stage& stage, int index) {
    const Turns& turns = stage.turns[index];
    if (turns.phase == Phase::kForward) {
      stage.memory->Take(RankOf(turns), turns.memory);
    } else {
      stage.memory->Give(static_cast<size_t>(index - map_.chunks()), turns.memory);
    }
  }

  void HandOn(int stage_index, int index, Duration arrival, Duration now) {
    Stage& stage = stages_[stage_index];
    Turns& turns = stage.turns[index];
    if (turns.next == turns.arrived) stage.arrivals[index] = arrival;
    turns.arrivals[turns.arrived++] = arrival;
    // A stage that is still busy looks for new inputs when it ends.
    if (stage.free <= now && arrival < clocks_.Time(stage_index)) clocks_.Set(stage_index, arrival);
  }

  const ChunkMap map_;
  const int micro_batches_;
  const PipelineCosts& costs_;
  const ListScheduling& options_;
  const int kinds_;
  std::vector<Stage> stages_;
  Earliest clocks_;  // by stage: when it becomes free, or has new input
};

}  // namespace

PassOrders ListScheduledOrders(const ChunkMap& map, int micro_batches, const PipelineCosts& costs,
                               const ListScheduling& options) {
  return ListScheduler(map, micro_batches, costs, options).Run();
}

}  // namespace stagecraft
