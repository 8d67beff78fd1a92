#include "sim/memory/caching_allocator.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// These are names and values of CUDACachingAllocator.cpp.
constexpr int64_t kMinBlockSize = 512;        // all sizes are rounded to this
constexpr int64_t kSmallSize = 1 << 20;       // largest request of the small pool
constexpr int64_t kSmallBuffer = 2 << 20;     // its segments
constexpr int64_t kLargeBuffer = 20 << 20;    // segments of medium requests
constexpr int64_t kMinLargeAlloc = 10 << 20;  // larger requests have segments of their own
constexpr int64_t kRoundLarge = 2 << 20;      // which are rounded to this

int64_t SegmentSize(int64_t size) {
  if (size <= kSmallSize) return kSmallBuffer;
  if (size < kMinLargeAlloc) return kLargeBuffer;
  return DivideUp(size, kRoundLarge) * kRoundLarge;
}

}  // namespace

Bytes CachingAllocator::Rounded(Bytes size) {
  return Bytes(DivideUp(size.count(), kMinBlockSize) * kMinBlockSize);
}

void CachingAllocator::Reset(Bytes capacity) {
  capacity_ = capacity;
  allocated_ = reserved_ = peak_allocated_ = peak_reserved_ = Bytes();
  next_address_ = 0;
  pieces_.clear();
  unused_.clear();
  for (FreeBlocks& free : free_) free.Clear();
}

std::vector<CachingAllocator::FreePiece> CachingAllocator::FreePieces() const {
  std::vector<const Piece*> free;
  for (const Piece& piece : pieces_) {
    if (piece.is_free) free.push_back(&piece);
  }
  std::sort(free.begin(), free.end(),
            [](const Piece* a, const Piece* b) { return a->address < b->address; });
  std::vector<FreePiece> pieces;
  for (const Piece* piece : free) pieces.push_back({piece->size, piece->pool});
  return pieces;
}

std::optional<CachingAllocator::Block> CachingAllocator::Allocate(Bytes size, int stream) {
  CHECK(size > Bytes());
  const Bytes rounded = Rounded(size);
  const auto pool = static_cast<Pool>(2 * stream + (rounded.count() <= kSmallSize ? 0 : 1));
  CHECK(stream >= 0 && pool < free_.size());
  std::optional<Block> found = FindFree(pool, rounded);
  if (!found.has_value()) found = NewSegment(pool, Bytes(SegmentSize(rounded.count())));
  if (!found.has_value()) return std::nullopt;
  const int64_t left = (pieces_[*found].size - rounded).count();
  if (IsSmall(pool) ? left >= kMinBlockSize : left > kSmallSize) Split(*found, rounded);
  allocated_ += pieces_[*found].size;
  peak_allocated_ = std::max(peak_allocated_, allocated_);
  return found;
}

void CachingAllocator::Free(Block block) {
  CHECK(!pieces_[block].is_free);
  allocated_ = allocated_ - pieces_[block].size;
  const Block next = pieces_[block].next;
  if (next >= 0 && pieces_[next].is_free) {
    Remove(next);
    Join(block, next);
  }
  const Block previous = pieces_[block].previous;
  if (previous >= 0 && pieces_[previous].is_free) {
    Remove(previous);
    Join(previous, block);
    block = previous;
  }
  Insert(block);
}

CachingAllocator::Block CachingAllocator::NewPiece(const Piece& piece) {
  if (unused_.empty()) {
    pieces_.push_back(piece);
    return static_cast<Block>(pieces_.size() - 1);
  }
  const Block block = unused_.back();
  unused_.pop_back();
  pieces_[block] = piece;
  return block;
}

std::optional<CachingAllocator::Block> CachingAllocator::FindFree(Pool pool, Bytes size) {
  const Block block = free_[pool].TakeBest(size.count());
  if (block < 0) return std::nullopt;
  pieces_[block].is_free = false;
  return block;
}

std::optional<CachingAllocator::Block> CachingAllocator::NewSegment(Pool pool, Bytes size) {
  if (reserved_ + size > capacity_) ReleaseSegments();
  if (reserved_ + size > capacity_) return std::nullopt;
  reserved_ += size;
  peak_reserved_ = std::max(peak_reserved_, reserved_);
  const Block block = NewPiece({.size = size, .address = next_address_, .pool = pool});
  next_address_ += size.count();
  return block;
}

void CachingAllocator::ReleaseSegments() {
  for (FreeBlocks& free : free_) {
    free.RemoveIf([&](Block block) {
      Piece& piece = pieces_[block];
      if (piece.previous >= 0 || piece.next >= 0) return false;
      piece.is_free = false;
      reserved_ = reserved_ - piece.size;
      unused_.push_back(block);
      return true;
    });
  }
}

void CachingAllocator::Split(Block block, Bytes size) {
  const Piece whole = pieces_[block];
  const Block rest = NewPiece({.size = whole.size - size,
                               .address = whole.address + size.count(),
                               .previous = block,
                               .next = whole.next,
                               .pool = whole.pool});
  if (whole.next >= 0) pieces_[whole.next].previous = rest;
  pieces_[block].size = size;
  pieces_[block].next = rest;
  Insert(rest);
}

void CachingAllocator::Join(Block block, Block with_next) {
  const Block next = pieces_[with_next].next;
  pieces_[block].size += pieces_[with_next].size;
  pieces_[block].next = next;
  if (next >= 0) pieces_[next].previous = block;
  unused_.push_back(with_next);
}

void CachingAllocator::Insert(Block block) {
  Piece& piece = pieces_[block];
  piece.is_free = true;
  free_[piece.pool].Insert({piece.size.count(), piece.address, block});
}

void CachingAllocator::Remove(Block block) {
  Piece& piece = pieces_[block];
  piece.is_free = false;
  free_[piece.pool].Remove(piece.size.count(), piece.address);
}

}  // namespace stagecraft
