#include "sim/pipeline/order_errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/pipeline/order_walk.h"
#include "sim/pipeline/pass_slots.h"

namespace stagecraft {
namespace {

using Error = std::optional<std::string>;

std::string PassName(const ChunkMap& map, const Pass& pass) {
  std::string name = fmt::format("{} of micro-batch {}", Name(pass.phase), pass.micro_batch);
  if (map.chunks() > 1) name += fmt::format(" chunk {}", pass.chunk);
  return name;
}

// Everything that can be checked in one stage alone.
class StageCheck {
 public:
  StageCheck(const PassSlots& slots, int stage, bool forward_only)
      : slots_(slots),
        map_(slots.map()),
        stage_(stage),
        forward_only_(forward_only),
        base_(slots.Of(stage, Pass{})),
        seen_(StageSlots(), Seen::kNo) {}

  Error FindError(const PassOrder& order) {
    for (size_t i = 0; i < order.size(); ++i) {
      if (Error error = FindRangeError(order[i])) return error;
      if (Error error = FindTurnError(order[i])) return error;
      if (Error error = FindBesideError(order, i)) return error;
    }
    return FindMissing();
  }

 private:
  enum class Seen : uint8_t { kNo, kYes, kWhole };

  size_t StageSlots() const {
    size_t slots = 0;
    for (int chunk = 0; chunk < map_.chunks(); ++chunk) {
      slots += static_cast<size_t>(slots_.Count({stage_, chunk})) * PassSlots::kSlotsPerPlace;
    }
    return slots;
  }
  Seen& At(const Pass& pass) { return seen_[slots_.Of(stage_, pass) - base_]; }
  Seen& At(Phase phase, const Pass& pass) { return At(Pass{phase, pass.chunk, pass.micro_batch}); }

  Error FindRangeError(const Pass& pass) const {
    if (!IsPass(pass.phase) || (forward_only_ && pass.phase != Phase::kForward)) {
      return fmt::format("rank {} runs {}, want {}", stage_, Name(pass.phase),
                         forward_only_ ? "forwards only" : "forwards and backwards");
    }
    if (pass.chunk < 0 || pass.chunk >= map_.chunks()) {
      return fmt::format("rank {} runs chunk {}, want chunks below {}", stage_, pass.chunk,
                         map_.chunks());
    }
    const int count = slots_.Count({stage_, pass.chunk});
    if (pass.micro_batch < 0 || pass.micro_batch >= count) {
      return fmt::format("rank {} runs {}, want micro-batches below {}", stage_,
                         PassName(map_, pass), count);
    }
    return {};
  }

  // Finds a pass that comes too early or twice, as far as this stage alone can tell.
  Error FindTurnError(const Pass& pass) {
    Seen& seen = At(pass);
    if (seen != Seen::kNo) {
      return fmt::format("rank {} runs {} twice", stage_, PassName(map_, pass));
    }
    seen = pass.phase == Phase::kBackward ? Seen::kWhole : Seen::kYes;
    if (pass.phase == Phase::kForward) return {};
    const bool is_weight = pass.phase == Phase::kBackwardWeight;
    const Phase needed = is_weight ? Phase::kBackwardInput : Phase::kForward;
    const Seen before = At(needed, pass);
    if (before == Seen::kNo) {
      return fmt::format("rank {} runs {} before its {}", stage_, PassName(map_, pass),
                         Name(needed));
    }
    if (is_weight && before == Seen::kWhole) {
      return fmt::format("rank {} runs {}, which its whole backward already did", stage_,
                         PassName(map_, pass));
    }
    return {};
  }

  Error FindBesideError(const PassOrder& order, size_t i) const {
    if (!order[i].beside_next) return {};
    const std::string name = PassName(map_, order[i]);
    if (i + 1 == order.size()) {
      return fmt::format("rank {} runs {} together with the next pass, but is the last one", stage_,
                         name);
    }
    const Pass& next = order[i + 1];
    const bool are_opposite =
        (order[i].phase == Phase::kForward) != (next.phase == Phase::kForward);
    const bool is_apart = are_opposite && next.micro_batch != order[i].micro_batch;
    if (next.chunk == order[i].chunk && !is_apart) {
      return fmt::format("rank {} runs {} together with a pass of the same chunk", stage_, name);
    }
    if (order[i + 1].beside_next) {
      return fmt::format("rank {} runs {} together with two passes", stage_, name);
    }
    return {};
  }

  Error FindMissing() {
    for (int chunk = 0; chunk < map_.chunks(); ++chunk) {
      for (int b = 0; b < slots_.Count({stage_, chunk}); ++b) {
        Pass pass{Phase::kForward, static_cast<int16_t>(chunk), b};
        if (At(pass) == Seen::kNo) return Lacks(pass);
        if (forward_only_) continue;
        pass.phase = Phase::kBackward;
        const Seen backward = At(pass);
        if (backward == Seen::kNo) return Lacks(pass);
        pass.phase = Phase::kBackwardWeight;
        if (backward == Seen::kYes && At(pass) == Seen::kNo) return Lacks(pass);
      }
    }
    return {};
  }

  std::string Lacks(const Pass& pass) const {
    return fmt::format("rank {} lacks {}", stage_, PassName(map_, pass));
  }

  const PassSlots& slots_;
  const ChunkMap& map_;
  const int stage_;
  const bool forward_only_;
  const size_t base_;
  std::vector<Seen> seen_;  // by slot from base_
};

// The pass that a stopped stage waits for.
PassSlots::Located Missing(const PassSlots& slots, std::span<const PassOrder> orders,
                           const OrderWalk& walk, int stage) {
  const PassRun run = RunAt(orders, stage, walk.next[stage]);
  for (size_t i = run.first; i < run.last; ++i) {
    const PassSlots::Located unmet = FirstUnmet(slots, stage, orders[stage][i], walk.ran);
    if (unmet.stage >= 0) return unmet;
  }
  return FirstUnmet(slots, stage, orders[stage][run.last], walk.ran);
}

std::string ExplainDeadlock(const PassSlots& slots, std::span<const PassOrder> orders,
                            const OrderWalk& walk, int stopped) {
  std::vector<PassSlots::Located> path;  // each is what the stage of the one before it waits for
  std::vector<int> position(orders.size(), -1);
  int stage = stopped;
  while (position[stage] < 0) {
    position[stage] = static_cast<int>(path.size());
    path.push_back(Missing(slots, orders, walk, stage));
    stage = path.back().stage;
  }
  const ChunkMap& map = slots.map();
  const size_t first = static_cast<size_t>(position[stage]);
  if (path.size() - first == 1) {
    return fmt::format("deadlock: rank {} waits for {}, which it does not run before", stage,
                       PassName(map, path[first].pass));
  }
  constexpr size_t kLongestShown = 12;
  std::string text = fmt::format("deadlock: rank {}", stage);
  for (size_t i = first; i < path.size(); ++i) {
    if (i - first == kLongestShown) {
      return text +
             fmt::format(", which waits through {} more for rank {}", path.size() - i, stage);
    }
    text += fmt::format("{} waits for {} on rank {}", i == first ? "" : ", which",
                        PassName(map, path[i].pass), path[i].stage);
  }
  return text;
}

}  // namespace

std::optional<std::string> FindOrderError(const ChunkMap& map, std::span<const PassOrder> orders,
                                          int micro_batches, bool forward_only) {
  if (orders.size() != static_cast<size_t>(map.stages())) {
    return fmt::format("got schedules of {} ranks, want {}", orders.size(), map.stages());
  }
  const PassSlots slots(map, micro_batches);
  for (int stage = 0; stage < map.stages(); ++stage) {
    Error error = StageCheck(slots, stage, forward_only).FindError(orders[stage]);
    if (error) return error;
  }
  const OrderWalk walk = WalkOrders(slots, orders);
  for (int stage = 0; stage < map.stages(); ++stage) {
    if (walk.next[stage] < orders[stage].size()) {
      return ExplainDeadlock(slots, orders, walk, stage);
    }
  }
  return {};
}

}  // namespace stagecraft
