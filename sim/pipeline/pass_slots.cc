#include "sim/pipeline/pass_slots.h"

namespace stagecraft {

PassSlots::PassSlots(const ChunkMap& map, int micro_batches) : map_(map), first_{0} {
  for (int stage = 0; stage < map.stages(); ++stage) {
    for (int chunk = 0; chunk < map.chunks(); ++chunk) {
      count_.push_back(map.MicroBatches(map.PartAt({stage, chunk}).chain, micro_batches));
      first_.push_back(first_.back() + static_cast<size_t>(count_.back()) * kSlotsPerPlace);
      before_.push_back(Neighbor({stage, chunk}, -1));
      behind_.push_back(Neighbor({stage, chunk}, 1));
    }
  }
}

ChunkMap::Place PassSlots::Neighbor(ChunkMap::Place place, int step) const {
  ChunkMap::Part part = map_.PartAt(place);
  part.index += step;
  if (part.index < 0 || part.index == map_.length()) return {-1, 0};
  return map_.PlaceOf(part);
}

}  // namespace stagecraft
