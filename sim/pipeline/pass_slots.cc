#include "sim/pipeline/pass_slots.h"

namespace stagecraft {

PassSlots::PassSlots(const ChunkMap& map, int micro_batches) : map_(map), first_{0} {
  for (int stage = 0; stage < map.stages(); ++stage) {
    for (int chunk = 0; chunk < map.chunks(); ++chunk) {
      count_.push_back(map.MicroBatches(map.PartAt({stage, chunk}).chain, micro_batches));
      first_.push_back(first_.back() + static_cast<size_t>(count_.back()) * kSlotsPerPlace);
    }
  }
}

PassSlots::Located PassSlots::Feeder(int stage, const Pass& pass) const {
  return Neighbor(stage, pass, pass.phase == Phase::kForward ? -1 : 1);
}

PassSlots::Located PassSlots::Receiver(int stage, const Pass& pass) const {
  return Neighbor(stage, pass, pass.phase == Phase::kForward ? 1 : -1);
}

PassSlots::Located PassSlots::Neighbor(int stage, const Pass& pass, int step) const {
  if (pass.phase == Phase::kBackwardWeight) return {};
  ChunkMap::Part part = map_.PartAt({stage, pass.chunk});
  part.index += step;
  if (part.index < 0 || part.index == map_.length()) return {};
  const ChunkMap::Place place = map_.PlaceOf(part);
  Located other{place.stage, pass};
  other.pass.chunk = static_cast<int16_t>(place.chunk);
  return other;
}

}  // namespace stagecraft
