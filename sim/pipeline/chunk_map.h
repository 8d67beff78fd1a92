// ChunkMap: which part of the network each chunk of each stage is.
//
// A chain is one copy of the network, cut into parts that follow one another. Every part has a
// place: a chunk of a stage. Pipelines that run in two directions hold several chains and divide
// the micro-batches among them.
#pragma once

#include <vector>

namespace stagecraft {

enum class Placement { kLooped, kWave, kBidirectional };
const char* Name(Placement placement);

class ChunkMap {
 public:
  // The map that the function for this placement below returns.
  ChunkMap(Placement placement, int stages, int chunks)
      : placement_(placement), stages_(stages), chunks_(chunks) {}
  // One chain whose parts go to the stages in rounds: part c * stages + s is chunk c of stage s.
  static ChunkMap Looped(int stages, int chunks) { return {Placement::kLooped, stages, chunks}; }
  // The same, but every other round goes back from the last stage to the first: with two chunks,
  // parts s and 2 * stages - 1 - s are on stage s, as in a V (ZB-V, DualPipeV).
  static ChunkMap Wave(int stages, int chunks) { return {Placement::kWave, stages, chunks}; }
  // 2 * pairs chains. Part d of chain 2i is on stage (d + i * stages / pairs) mod stages; chain
  // 2i + 1 runs in the opposite direction. Chunk c of every stage belongs to chain c (Chimera,
  // DualPipe). `stages` must be a multiple of 2 * pairs.
  static ChunkMap Bidirectional(int stages, int pairs = 1) {
    return {Placement::kBidirectional, stages, 2 * pairs};
  }

  struct Part {
    int chain = 0;
    int index = 0;  // 0 to length() - 1
    friend bool operator==(const Part&, const Part&) = default;
  };
  struct Place {
    int stage = 0;
    int chunk = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };

  Placement placement() const { return placement_; }
  int stages() const { return stages_; }
  int chunks() const { return chunks_; }  // of every stage
  int chains() const { return placement_ == Placement::kBidirectional ? chunks_ : 1; }
  int length() const { return stages_ * chunks_ / chains(); }  // parts of a chain
  Part PartAt(Place place) const;
  Place PlaceOf(Part part) const;
  // The stages that hold a copy of what `stage` holds, itself included, in ascending order.
  std::vector<int> Peers(int stage) const;
  // Whether the part that follows the one in `chunk` is on the previous stage rather than on the
  // next.
  bool RunsBack(int chunk) const { return placement_ != Placement::kLooped && chunk % 2 == 1; }
  // How many of a step's micro-batches go through a chain; the first chains take one more if the
  // number is no multiple of the chains.
  int MicroBatches(int chain, int all) const {
    return all / chains() + (chain < all % chains() ? 1 : 0);
  }

  friend bool operator==(const ChunkMap&, const ChunkMap&) = default;

 private:
  Placement placement_;
  int stages_;
  int chunks_;
};

}  // namespace stagecraft
