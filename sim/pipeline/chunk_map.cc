#include "sim/pipeline/chunk_map.h"

namespace stagecraft {

ChunkMap::Part ChunkMap::PartAt(Place place) const {
  const auto [stage, chunk] = place;
  switch (kind_) {
    case Kind::kLooped:
      return {0, chunk * stages_ + stage};
    case Kind::kWave:
      return {0, chunk * stages_ + (chunk % 2 == 0 ? stage : stages_ - 1 - stage)};
    case Kind::kBidirectional:
      break;
  }
  const int shift = chunk / 2 * (stages_ / (chunks_ / 2));
  const int down = (stage - shift + stages_) % stages_;
  return {chunk, chunk % 2 == 0 ? down : stages_ - 1 - down};
}

ChunkMap::Place ChunkMap::PlaceOf(Part part) const {
  const auto [chain, index] = part;
  const int along = index % stages_;
  const int round = index / stages_;
  switch (kind_) {
    case Kind::kLooped:
      return {along, round};
    case Kind::kWave:
      return {round % 2 == 0 ? along : stages_ - 1 - along, round};
    case Kind::kBidirectional:
      break;
  }
  const int shift = chain / 2 * (stages_ / (chunks_ / 2));
  const int down = chain % 2 == 0 ? index : stages_ - 1 - index;
  return {(down + shift) % stages_, chain};
}

}  // namespace stagecraft
