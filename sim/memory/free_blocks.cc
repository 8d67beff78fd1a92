#include "sim/memory/free_blocks.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr int kUnitBits = 9;  // a unit has 512 bytes

bool IsBefore(const FreeBlocks::Entry& entry, int64_t size, int64_t address) {
  return entry.size != size ? entry.size < size : entry.address < address;
}

// Returns how many entries of a bin do not come before the given one. They are at its beginning.
size_t CountFrom(const std::vector<FreeBlocks::Entry>& bin, int64_t size, int64_t address) {
  constexpr size_t kNear = 4;
  for (size_t i = 0; i < kNear; ++i) {
    if (i == bin.size()) return 0;
    if (!IsBefore(bin[bin.size() - 1 - i], size, address)) return bin.size() - i;
  }
  const auto place =
      std::partition_point(bin.begin(), bin.end() - static_cast<std::ptrdiff_t>(kNear),
                           [&](const auto& entry) { return !IsBefore(entry, size, address); });
  return static_cast<size_t>(place - bin.begin());
}

}  // namespace

// Uses two bits below the leading one, so that a larger size is never in an earlier bin.
size_t FreeBlocks::BinOf(int64_t size) {
  const auto units = static_cast<uint64_t>(size) >> kUnitBits;
  const int power = std::bit_width(units) - 1;
  const uint64_t quarter = power < 2 ? units << (2 - power) : units >> (power - 2);
  return static_cast<size_t>(power) * 4 + (quarter & 3);
}

size_t FreeBlocks::NextFilled(size_t bin) const {
  if (bin >= kBins) return kBins;
  size_t word = bin / 64;
  uint64_t bits = filled_[word] >> bin % 64 << bin % 64;
  while (bits == 0) {
    if (++word == filled_.size()) return kBins;
    bits = filled_[word];
  }
  return word * 64 + static_cast<size_t>(std::countr_zero(bits));
}

void FreeBlocks::Insert(const Entry& entry) {
  const size_t bin = BinOf(entry.size);
  std::vector<Entry>& entries = bins_[bin];
  const size_t place = CountFrom(entries, entry.size, entry.address);
  entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(place), entry);
  filled_[bin / 64] |= uint64_t{1} << bin % 64;
}

void FreeBlocks::Clear() {
  for (size_t bin = NextFilled(0); bin < kBins; bin = NextFilled(bin + 1)) bins_[bin].clear();
  filled_ = {};
}

int32_t FreeBlocks::Take(size_t bin, size_t place) {
  std::vector<Entry>& entries = bins_[bin];
  const auto at = entries.begin() + static_cast<std::ptrdiff_t>(place);
  const int32_t block = at->block;
  entries.erase(at);
  if (entries.empty()) MarkEmpty(bin);
  return block;
}

void FreeBlocks::Remove(int64_t size, int64_t address) {
  const size_t bin = BinOf(size);
  const size_t count = CountFrom(bins_[bin], size, address);
  CHECK(count > 0);
  Take(bin, count - 1);
}

int32_t FreeBlocks::TakeBest(int64_t size) {
  const size_t bin = BinOf(size);
  const size_t count = CountFrom(bins_[bin], size, 0);
  if (count > 0) return Take(bin, count - 1);
  const size_t next = NextFilled(bin + 1);
  return next == kBins ? -1 : Take(next, bins_[next].size() - 1);
}

}  // namespace stagecraft
