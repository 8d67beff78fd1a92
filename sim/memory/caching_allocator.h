// CachingAllocator: what PyTorch's CUDA caching allocator does with a sequence of allocations,
// without a device. Rules and sizes are those of c10/cuda/CUDACachingAllocator.cpp with default
// settings.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "sim/memory/free_blocks.h"

namespace stagecraft {

// Takes segments from the device and hands out blocks of them. A request is rounded to 512 B.
// Requests of at most 1 MiB come from segments of 2 MiB, those below 10 MiB from segments of 20
// MiB, larger ones from a segment of their own size, rounded to 2 MiB; the first kind never shares
// segments with the others. The smallest free block that fits is taken, among equals the one of
// lowest address, and split if enough is left; a freed block joins its free neighbours. A segment
// serves only the stream for which it was taken, but all streams share the device: segments stay
// reserved until an allocation fails, and then the wholly free ones of every stream are returned.
//
// The cost of a call is that of FreeBlocks. Equal calls give equal answers.
class CachingAllocator {
 public:
  using Block = int32_t;

  // Streams are numbered from 0.
  explicit CachingAllocator(Bytes capacity, int streams = 1)
      : capacity_(capacity), free_(static_cast<size_t>(2 * streams)) {}

  // Forgets everything that was allocated, and keeps buffers for what comes next.
  void Reset(Bytes capacity);

  // Returns a block of at least `size` bytes, which must be > 0; no value if the device has no room
  // even after all wholly free segments were returned to it.
  std::optional<Block> Allocate(Bytes size, int stream = 0);
  void Free(Block block);

  // Sets how much of the device's memory the allocator may hold; for callers that ask how much more
  // an allocation would take.
  void set_capacity(Bytes capacity) { capacity_ = capacity; }

  // Return the bytes in blocks that were handed out, and in segments, of all streams:
  // `allocated_bytes.all` and `reserved_bytes.all` of torch.cuda.memory_stats().
  Bytes allocated() const { return allocated_; }
  Bytes reserved() const { return reserved_; }
  Bytes peak_allocated() const { return peak_allocated_; }
  Bytes peak_reserved() const { return peak_reserved_; }

  // A free part of a segment, and the pool that may use it.
  struct FreePiece {
    Bytes size;
    int pool = 0;
    friend bool operator==(const FreePiece&, const FreePiece&) = default;
  };
  // Returns all free pieces, in the order of their addresses.
  std::vector<FreePiece> FreePieces() const;

  // Returns how many bytes an allocation of `size` counts for at least.
  static Bytes Rounded(Bytes size);

 private:
  // Pools are numbered by stream: that of small requests comes before that of all others.
  using Pool = uint8_t;
  static bool IsSmall(Pool pool) { return pool % 2 == 0; }

  // Pieces make up a segment; those of one segment are linked by address.
  struct Piece {
    Bytes size;
    int64_t address = 0;
    Block previous = -1;
    Block next = -1;
    Pool pool = 0;
    bool is_free = false;
  };
  Block NewPiece(const Piece& piece);
  std::optional<Block> FindFree(Pool pool, Bytes size);
  std::optional<Block> NewSegment(Pool pool, Bytes size);
  void ReleaseSegments();
  void Split(Block block, Bytes size);
  void Join(Block block, Block with_next);
  void Insert(Block block);
  void Remove(Block block);

  Bytes capacity_;
  Bytes allocated_, reserved_, peak_allocated_, peak_reserved_;
  int64_t next_address_ = 0;  // of the next segment; pieces of different segments never join
  std::vector<Piece> pieces_;
  std::vector<Block> unused_;     // entries of pieces_ that can be used again
  std::vector<FreeBlocks> free_;  // by Pool
};

}  // namespace stagecraft
