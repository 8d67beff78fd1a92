// Reservation: the segments that the allocator takes for the passes of one rank.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "costmodel/units.h"
#include "sim/memory/caching_allocator.h"
#include "sim/memory/rank_memory.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// Pipeline schedules repeat themselves, so no more than this number of passes are replayed.
inline constexpr int kReplayedPasses = 32;

// Reservation is what the allocator reserves.
struct Reservation {
  double share = 1;  // bytes of segments over the bytes allocated in them, each at the passes' peak
  Bytes update;      // segments that the update needs besides
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

// Replays the first passes through the allocator, with nothing on the host, until the segments that
// they use are enough for the next ones too, and then the update; takes time linear in their
// operators. `capacity` is the memory that the GPU leaves to the allocator; if it is too little,
// the result is that of a larger GPU.
Reservation ReservationOf(const RankTensors& rank, const PassOrder& order, Bytes capacity);

// Reservations gives the same for one rank after another, to the bit, and replays only what it has
// not seen. What ranks hold all the time fills segments of its own, whose other blocks never become
// free. So two ranks with the same passes take the same segments for these whenever equal pieces of
// those segments are left, however much they hold, and on every GPU with room for all they take.
class Reservations {
 public:
  Reservations();

  // `live`: what the tensors of the rank take at their peak. It decides nothing but which replay is
  // tried first.
  Reservation Find(const RankTensors& rank, const PassOrder& order, Bytes capacity, Bytes live);
  // Returns how many replays it remembers.
  size_t size() const { return growths_.size(); }
  void Forget() { growths_.clear(); }

 private:
  // What passes and the update take beyond what was held and reserved before them.
  struct Growth {
    Bytes allocated;  // at the peak of the passes
    Bytes reserved;   // at that of the segments
    Bytes update;     // beyond `reserved`
  };
  struct Key {
    std::vector<std::shared_ptr<const ChunkTensors>> chunks;
    PassTensors update;
    PassOrder order;                                // only the passes that are replayed
    std::vector<CachingAllocator::FreePiece> left;  // of the segments of what is held
    Bytes room;                                     // for further segments
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  CachingAllocator allocator_;  // kept for its buffers
  std::unordered_map<Key, Growth, KeyHash> growths_;
};

}  // namespace stagecraft
