#include "costmodel/physical_range.h"

#include <fmt/core.h>

#include <cmath>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Returns a number as errors show it: "1e9", "4e12", "46000000", "3350".
std::string Text(double number) {
  const double power = std::floor(std::log10(number));
  const double digit = number / std::pow(10.0, power);
  const bool is_round = number >= 1e6 && digit == std::floor(digit);
  return is_round ? fmt::format("{:.0f}e{:.0f}", digit, power) : fmt::format("{}", number);
}

// Returns a question with the value in the unit in which it was probably written; empty if no unit
// fits.
std::string Meant(double value, const PhysicalRange& range) {
  for (const int power : range.powers) {
    const double scaled = value * std::pow(10.0, power);
    if (value > 0 && scaled >= range.usual && scaled <= range.high) {
      return fmt::format(": did you mean {}e{}?", value, power);
    }
  }
  return "";
}

}  // namespace

// A core of an old host, or one that is slowed down by a checker of memory accesses, does some 3e9
// FLOP/s and moves some 4e8 bytes a second.
const PhysicalRange& FlopRateRange() {
  static const PhysicalRange range{1e9, 1e17, "FLOP/s", {12, 9, 15}, 1e12};
  return range;
}

const PhysicalRange& MemoryBandwidthRange() {
  static const PhysicalRange range{1e8, 1e14, "bytes/s", {9, 12, 6}, 1e10};
  return range;
}

const PhysicalRange& LinkBandwidthRange() {
  static const PhysicalRange range{1e6, 1e13, "bytes/s", {9, 12, 6}, 1e8};
  return range;
}

// Light takes 0.1 s through a fibre half round the Earth, 20,000 km at 2e8 m/s. The catalogue's
// slowest network takes 25 microseconds.
const PhysicalRange& LatencyRange() {
  static const PhysicalRange range{0, 1e8, "ns"};
  return range;
}

const PhysicalRange& ClockRange() {
  static const PhysicalRange range{1e8, 1e10, "Hz", {6, 9}, 1e8};
  return range;
}

// The catalogue's largest GPU has 288 GiB; hosts that stand in for a GPU have some TB.
const PhysicalRange& MemoryRange() {
  static const PhysicalRange range{1e8, 4e12, "bytes", {9, 6, 3}, 1e9};
  return range;
}

// The catalogue's GPUs have 1.5 to 128 MiB; last-level caches of hosts reach 1.2 GB.
const PhysicalRange& CacheRange() {
  static const PhysicalRange range{1e5, 4e9, "bytes", {6, 3}, 1e6};
  return range;
}

// The catalogue's GPUs have 13 to 304 multiprocessors. Each has some 64 or 128 arithmetic units,
// whose number is on datasheets, too.
const PhysicalRange& MultiprocessorRange() {
  static const PhysicalRange range{1, 2000, "multiprocessors"};
  return range;
}

// The catalogue's boards draw 70 to 1,400 W.
const PhysicalRange& PowerRange() {
  static const PhysicalRange range{10, 5000, "W", {3}, 10};
  return range;
}

double CheckPhysical(const std::string& key, double value, const PhysicalRange& range) {
  if (value >= range.low && value <= range.high) return value;
  if (value == 0) {  // the file does not state the value
    throw InputError(fmt::format("{}: got none, want from {} to {} {}", key, Text(range.low),
                                 Text(range.high), range.unit));
  }
  const std::string meant = value < range.low ? Meant(value, range) : "";
  throw InputError(fmt::format("{}: got {} {}, want from {} to {}{}", key, Text(value), range.unit,
                               Text(range.low), Text(range.high), meant));
}

}  // namespace stagecraft
