// PassSlots: numbers every pass of a pipeline, and finds the passes that feed it and follow it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

class PassSlots {
 public:
  static constexpr int kSlotsPerPlace = 3;  // forward, backward (input), weight gradients

  PassSlots(const ChunkMap& map, int micro_batches);

  const ChunkMap& map() const { return map_; }
  size_t size() const { return first_.back(); }
  // The number of micro-batches that go through a place.
  int Count(ChunkMap::Place place) const { return count_[Index(place)]; }
  // Returns the slot of a pass, whose chunk and micro_batch must be in range. A whole backward has
  // the slot of input gradients.
  size_t Of(int stage, const Pass& pass) const {
    const size_t place = Index({stage, pass.chunk});
    return first_[place] + static_cast<size_t>(pass.micro_batch) * kSlotsPerPlace +
           static_cast<size_t>(SlotKind(pass.phase));
  }

  // A pass and the stage on which it runs.
  struct Located {
    int stage = -1;  // -1: none
    Pass pass;
  };
  // The pass of the neighbouring part whose output `pass` takes.
  Located Feeder(int stage, const Pass& pass) const {
    const size_t place = Index({stage, pass.chunk});
    return At(pass.phase == Phase::kForward ? before_[place] : behind_[place], pass);
  }
  // The pass of the neighbouring part that takes the output of `pass`.
  Located Receiver(int stage, const Pass& pass) const {
    const size_t place = Index({stage, pass.chunk});
    return At(pass.phase == Phase::kForward ? behind_[place] : before_[place], pass);
  }

 private:
  static int SlotKind(Phase phase) {
    return phase == Phase::kForward ? 0 : phase == Phase::kBackwardWeight ? 2 : 1;
  }
  size_t Index(ChunkMap::Place place) const {
    return static_cast<size_t>(place.stage) * map_.chunks() + place.chunk;
  }
  ChunkMap::Place Neighbor(ChunkMap::Place place, int step) const;
  static Located At(ChunkMap::Place place, const Pass& pass) {
    if (pass.phase == Phase::kBackwardWeight) return {};
    return {place.stage, {pass.phase, static_cast<int16_t>(place.chunk), pass.micro_batch}};
  }

  ChunkMap map_;
  std::vector<size_t> first_;  // by place; one more at the end
  std::vector<int> count_;     // by place
  // By place: the place of the part before and of the part after its own; stage -1 if there is
  // none.
  std::vector<ChunkMap::Place> before_, behind_;
};

}  // namespace stagecraft
