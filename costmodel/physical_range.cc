#include "costmodel/physical_range.h"

#include <fmt/format.h>

#include <cmath>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// "1e9", "100000000", "3350".
std::string Text(double number) {
  const double power = std::log10(number);
  if (number >= 1e6 && power == std::floor(power)) return fmt::format("1e{:.0f}", power);
  return fmt::format("{}", number);
}

// What the value would be in the unit that it was probably written in; empty where none fits.
std::string Meant(double value, const PhysicalRange& range) {
  for (const int power : range.powers) {
    const double scaled = value * std::pow(10.0, power);
    if (value > 0 && scaled >= range.usual && scaled <= range.high) {
      return fmt::format(": did you mean {}e{}?", Text(value), power);
    }
  }
  return "";
}

}  // namespace

const PhysicalRange& FlopRateRange() {
  static const PhysicalRange range{1e10, 1e17, "FLOP/s", {12, 9, 15}, 1e12};
  return range;
}

const PhysicalRange& MemoryBandwidthRange() {
  static const PhysicalRange range{1e9, 1e14, "bytes/s", {9, 12, 6}, 1e10};
  return range;
}

const PhysicalRange& LinkBandwidthRange() {
  static const PhysicalRange range{1e6, 1e13, "bytes/s", {9, 12, 6}, 1e8};
  return range;
}

const PhysicalRange& LatencyRange() {
  static const PhysicalRange range{0, 1e9, "ns"};
  return range;
}

const PhysicalRange& ClockRange() {
  static const PhysicalRange range{1e8, 1e10, "Hz", {6, 9}, 1e8};
  return range;
}

const PhysicalRange& MemoryRange() {
  static const PhysicalRange range{1e8, 1e14, "bytes", {9, 6}, 1e9};
  return range;
}

const PhysicalRange& CacheRange() {
  static const PhysicalRange range{1e4, 1e11, "bytes", {6, 3}, 1e5};
  return range;
}

double CheckPhysical(const std::string& key, double value, const PhysicalRange& range) {
  if (value >= range.low && value <= range.high) return value;
  const std::string meant = value < range.low ? Meant(value, range) : "";
  throw InputError(fmt::format("{}: got {} {}, want from {} to {}{}", key, Text(value), range.unit,
                               Text(range.low), Text(range.high), meant));
}

}  // namespace stagecraft
