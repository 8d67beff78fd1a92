// The ops to measure on a device.
#pragma once

#include <span>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "costmodel/units.h"
#include "runtime/profile/measuring.h"
#include "runtime/profile/network_shape.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// The size of a suite: on one GPU, kCalibrate takes seconds, kQuick at most three minutes and kFull
// at most fifteen. kCalibrate has the GEMMs that tell most about a GPU type (CalibrationShapes()).
enum class SuiteSize { kCalibrate, kQuick, kFull };

struct SuiteOptions {
  SuiteSize size = SuiteSize::kQuick;
  Device device;   // decides which formats there are, and which sizes take too long
  Bytes memory;    // free memory of the device; no case takes more than an eighth
  Link host_link;  // between the device and its host; if it has no bandwidth, there are no host
                   // copies
  std::vector<NetworkShape> networks;
};

// Returns eight GEMMs, in 16 bits if the device has such a rate, that lie in the regimes in which
// different constants of a cost model decide: the start of a kernel, the memory's rate, the edges
// of tiles, sums over a split k, stores, and the clock of short and of long kernels.
std::vector<Op> CalibrationShapes(const Device& device);

// Returns distinct cases, the same for equal options. The CPU of a host has cases of its own.
// Collectives, which need several devices, are not among them.
std::vector<ProfileCase> MakeSuite(const SuiteOptions& options);

// Returns an upper bound of the time of a suite, if each op runs at `share_of_peak` of the device's
// peak; the preparation of ops is included.
Duration LongestSuite(std::span<const ProfileCase> suite, const Device& device,
                      const MeasuringRules& rules, double share_of_peak = 0.25);

// Returns the bytes of all operands and results.
Bytes Footprint(const ProfileCase& one);

}  // namespace stagecraft
