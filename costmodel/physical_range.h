// PhysicalRange: the values that a number of a hardware description can have.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

struct PhysicalRange {
  double low, high;  // both included
  const char* unit;  // "bytes/s"
  // Powers of ten of the units that datasheets use (GB/s: 9), the most usual first. A number in
  // such a unit is taken to mean at least `usual`, which is in `unit`.
  std::vector<int> powers = {};
  double usual = 0;
};

// Each range is wide enough for any hardware that is sold, and for a part of a GPU, but narrow
// enough that a number in another unit falls outside. Upper limits are some ten times the largest
// value of the device catalogue, or of hosts that stand in for a device; physical_range.cc says
// which.
const PhysicalRange& FlopRateRange();         // of one device
const PhysicalRange& MemoryBandwidthRange();  // of one device
const PhysicalRange& LinkBandwidthRange();
const PhysicalRange& LatencyRange();  // ns
const PhysicalRange& ClockRange();
const PhysicalRange& MemoryRange();  // of one device
const PhysicalRange& CacheRange();
const PhysicalRange& MultiprocessorRange();
const PhysicalRange& PowerRange();  // of one device

// Returns `value`. Throws an InputError that opens with `key` if the value is outside the range or
// not a number: "key: got 3350 bytes/s, want from 1e8 to 1e14: did you mean 3350e9?". The value
// that it proposes is within the range.
double CheckPhysical(const std::string& key, double value, const PhysicalRange& range);

}  // namespace stagecraft
