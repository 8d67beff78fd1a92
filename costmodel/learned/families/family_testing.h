// Checks that the tests of several kernel families have in common.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "costmodel/device_catalogue.h"
#include "costmodel/kernel_model.h"
#include "costmodel/learned/kernel_family.h"
#include "costmodel/random.h"

namespace stagecraft {

// Returns a device with round numbers: 100 multiprocessors; 10 TFLOP/s in fp32, 1 PFLOP/s in 16
// bits; 1 TB/s, L2 of 50 MB.
inline Device RoundDevice() {
  Device device;
  device.id = "round";
  device.generation = Generation::kHopper;
  device.multiprocessors = 100;
  device.boost_clock_hz = 1e9;
  device.peak = {FlopRate(1e13), FlopRate(5e14), FlopRate(1e15),
                 FlopRate(1e15), FlopRate(2e15), FlopRate(4e15)};
  device.vector_peak = FlopRate(1e13);
  device.memory = Bytes(80'000'000'000);
  device.memory_bandwidth = Bandwidth(1e12);
  device.l2 = Bytes(50'000'000);
  return device;
}

inline const Device& GpuNamed(const std::string& id) {
  return DeviceCatalogue::Embedded().Get(id, "test").device;
}

// Returns the structured time with the constants before any fit.
inline double SecondsOf(const KernelFamily& family, const Op& op, const Device& device) {
  return family.Describe(op, device, StartOf(family), {});
}
inline std::vector<float> FeaturesOf(const KernelFamily& family, const Op& op,
                                     const Device& device) {
  std::vector<float> features(family.feature_count(), std::numeric_limits<float>::quiet_NaN());
  family.Describe(op, device, StartOf(family), features);
  return features;
}

// Returns a number from 1 to 2^most whose logarithm is uniform.
inline int64_t RandomSize(Random& random, int most) {
  return std::llround(std::exp2(most * random.Uniform()));
}

struct ReferenceRow {
  const char* gpu;
  Op op;
  double seconds;
  double sustained = 0;  // the share of the peak that the device reaches; 0: its boost clock
};
// The reference times are those of the Python program in which the family was designed, which knew
// nothing of board power.
inline Device DeviceOf(const ReferenceRow& row) {
  Device device = GpuNamed(row.gpu);
  device.power_w = 0;
  device.sustained_fraction = row.sustained;
  return device;
}
inline void ExpectReference(const KernelFamily& family, const std::vector<ReferenceRow>& rows) {
  for (const ReferenceRow& row : rows) {
    ASSERT_TRUE(family.Covers(row.op, DeviceOf(row))) << Describe(row.op);
    EXPECT_NEAR(SecondsOf(family, row.op, DeviceOf(row)) / row.seconds, 1, 1e-6)
        << row.gpu << ": " << Describe(row.op);
  }
}
inline void ExpectReferenceFeatures(const KernelFamily& family, const ReferenceRow& row,
                                    const std::vector<double>& expected) {
  const std::vector<float> features = FeaturesOf(family, row.op, DeviceOf(row));
  ASSERT_EQ(features.size(), expected.size());
  for (size_t i = 0; i < features.size(); ++i) {
    EXPECT_NEAR(features[i], expected[i], 1e-6 * std::max(1.0, std::abs(expected[i])))
        << family.feature_names()[i];
  }
}

// Checks a thousand ops that `draw` makes, on every GPU type that has a rate for them.
inline void ExpectFinite(const KernelFamily& family, const std::function<Op(Random&)>& draw) {
  const uint64_t seed = 20240607;
  Random random(seed);
  for (int sample = 0; sample < 1000; ++sample) {
    const Op op = draw(random);
    ASSERT_TRUE(family.Covers(op, RoundDevice())) << Describe(op);
    for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
      const Device& device = entry.device;
      if (!CanCompute(op, device)) continue;
      const double seconds = SecondsOf(family, op, device);
      ASSERT_TRUE(seconds > 0 && std::isfinite(seconds))
          << device.id << ": " << Describe(op) << ", seed " << seed;
      const std::vector<float> features = FeaturesOf(family, op, device);
      for (size_t i = 0; i < features.size(); ++i) {
        ASSERT_TRUE(std::isfinite(features[i])) << device.id << ": " << Describe(op) << ": "
                                                << family.feature_names()[i] << ", seed " << seed;
      }
    }
  }
}

// Checks that every op that `draw` makes takes at least as long once `dimension` is 1 to 3 times as
// large.
inline void ExpectGrowth(const KernelFamily& family, const std::function<Op(Random&)>& draw,
                         int64_t Op::*dimension) {
  const uint64_t seed = 20240608;
  Random random(seed);
  const auto entries = DeviceCatalogue::Embedded().entries();
  for (int sample = 0; sample < 2000; ++sample) {
    const Op small = draw(random);
    Op large = small;
    large.*dimension += random.Integer(0, 2 * small.*dimension);
    const Device& device = entries[random.Integer(0, std::ssize(entries) - 1)].device;
    if (!CanCompute(small, device)) continue;
    EXPECT_GE(SecondsOf(family, large, device), SecondsOf(family, small, device) * (1 - 1e-12))
        << device.id << ": " << Describe(small) << " and " << Describe(large) << ", seed " << seed;
  }
}

}  // namespace stagecraft
