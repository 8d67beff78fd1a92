#include "costmodel/physical_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"

namespace stagecraft {
namespace {

// Returns the error for a number; empty if it is accepted.
std::string Said(double value, const PhysicalRange& range) {
  try {
    CheckPhysical("key", value, range);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

// Returns the number after "did you mean"; 0 if none is proposed.
double Proposed(const std::string& text) {
  const std::string words = "did you mean ";
  const size_t begin = text.find(words);
  return begin == std::string::npos ? 0 : std::strtod(text.c_str() + begin + words.size(), nullptr);
}

TEST(PhysicalRangeTest, WhatIsProposedIsTaken) {
  int proposed = 0;
  for (const PhysicalRange* range :
       {&FlopRateRange(), &MemoryBandwidthRange(), &LinkBandwidthRange(), &LatencyRange(),
        &ClockRange(), &MemoryRange(), &CacheRange(), &MultiprocessorRange()}) {
    for (int step = -30; step <= 200; ++step) {
      const double value = std::round(std::pow(10, 0.1 * step) * 1000) / 1000;
      const std::string text = Said(value, *range);
      EXPECT_EQ(text.empty(), value >= range->low && value <= range->high) << text;
      if (text.find("did you mean") == std::string::npos) continue;
      EXPECT_EQ(Said(Proposed(text), *range), "") << text;
      ++proposed;
    }
  }
  EXPECT_GT(proposed, 100);
}

// Datasheets and tools print memories in GB and MB, and caches in MB and KB.
TEST(PhysicalRangeTest, SizesOfGpusInOtherUnitsAreRecognised) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const auto memory = static_cast<double>(entry.device.memory.count());
    for (const double unit : {1e9, 1e6}) {
      const double meant = Proposed(Said(memory / unit, MemoryRange()));
      EXPECT_NEAR(meant / memory, 1, 1e-6) << entry.device.id << " / " << unit;
    }
    const auto cache = static_cast<double>(entry.device.l2.count());
    const double meant = Proposed(Said(cache / 1e6, CacheRange()));
    EXPECT_NEAR(meant / cache, 1, 1e-6) << entry.device.id;
  }
}

TEST(PhysicalRangeTest, NumbersInTheWrongUnitAreRefused) {
  // These are 80 GB in MB and 46 GB in KB; a proposal of 80 TB would be wrong.
  EXPECT_EQ(Proposed(Said(80000, MemoryRange())), 80e9);
  EXPECT_EQ(Proposed(Said(46000000, MemoryRange())), 46e9);
  EXPECT_NE(Said(80e12, MemoryRange()), "");
  EXPECT_NE(Said(41.9e9, CacheRange()), "");         // a GPU's memory as its cache
  EXPECT_NE(Said(6912, MultiprocessorRange()), "");  // arithmetic units of an A100
  EXPECT_NE(Said(700'000'000, LatencyRange()), "");  // picoseconds
}

// The limits leave room for ten times the values of hardware that is sold, except for latencies,
// which the speed of light limits.
TEST(PhysicalRangeTest, GpusOfTheCatalogueLieFarWithinTheLimits) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const Device& device = entry.device;
    EXPECT_EQ(Said(10 * static_cast<double>(device.memory.count()), MemoryRange()), "");
    EXPECT_EQ(Said(10 * static_cast<double>(device.l2.count()), CacheRange()), "");
    EXPECT_EQ(Said(5.0 * device.multiprocessors, MultiprocessorRange()), "") << device.id;
  }
}

}  // namespace
}  // namespace stagecraft
