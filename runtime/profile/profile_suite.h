// What to measure on a device.
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

// On one GPU the quick suite takes at most three minutes, the full one fifteen.
enum class SuiteSize { kQuick, kFull };

struct SuiteOptions {
  SuiteSize size = SuiteSize::kQuick;
  Device device;   // decides number formats and which sizes take too long
  Bytes memory;    // free on the device; no case takes more than an eighth
  Link host_link;  // of the device to its host; without bandwidth there are no such copies
  std::vector<NetworkShape> networks;
};

// Distinct cases, always the same for equal options. The CPU of a host has cases of its own. Ops of
// several devices (collectives) are not among them.
std::vector<ProfileCase> MakeSuite(const SuiteOptions& options);

// An upper bound of the time that the suite takes: each op runs at `share_of_peak` of the device's
// peak, plus its preparation.
Duration LongestSuite(std::span<const ProfileCase> suite, const Device& device,
                      const MeasuringRules& rules, double share_of_peak = 0.25);

// The bytes of all operands.
Bytes Footprint(const ProfileCase& one);

}  // namespace stagecraft
