#include "sim/pipeline/chunk_map.h"

#include <algorithm>

namespace stagecraft {

const char* Name(Placement placement) {
  constexpr const char* kNames[] = {"looped", "wave", "bidirectional"};
  return kNames[static_cast<int>(placement)];
}

ChunkMap::Part ChunkMap::PartAt(Place place) const {
  const auto [stage, chunk] = place;
  switch (placement_) {
    case Placement::kLooped:
      return {0, chunk * stages_ + stage};
    case Placement::kWave:
      return {0, chunk * stages_ + (chunk % 2 == 0 ? stage : stages_ - 1 - stage)};
    case Placement::kBidirectional:
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
  switch (placement_) {
    case Placement::kLooped:
      return {along, round};
    case Placement::kWave:
      return {round % 2 == 0 ? along : stages_ - 1 - along, round};
    case Placement::kBidirectional:
      break;
  }
  const int shift = chain / 2 * (stages_ / (chunks_ / 2));
  const int down = chain % 2 == 0 ? index : stages_ - 1 - index;
  return {(down + shift) % stages_, chain};
}

std::vector<int> ChunkMap::Peers(int stage) const {
  std::vector<int> peers;
  const int index = PartAt({stage, 0}).index;
  for (int chain = 0; chain < chains(); ++chain) peers.push_back(PlaceOf({chain, index}).stage);
  if (chains() == 1) return {stage};
  std::sort(peers.begin(), peers.end());
  return peers;
}

}  // namespace stagecraft
