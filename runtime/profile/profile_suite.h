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

// On one GPU the quick one takes three minutes at most, the full one fifteen.
enum class SuiteSize { kQuick, kFull };

struct SuiteOptions {
  SuiteSize size = SuiteSize::kQuick;
  Device device;   // decides number formats and which sizes take too long
  Bytes memory;    // free on the device; no case takes more than an eighth
  Link host_link;  // of the device to its host; no bandwidth: no such copies
  std::vector<NetworkShape> networks;
};

// Distinct cases, always the same for equal options. A host's processor has cases of its
// own. Ops of several devices (collectives) are not among them.
std::vector<ProfileCase> MakeSuite(const SuiteOptions& options);

// An upper bound of what the suite takes: each op as slow as `share_of_peak` of
// the device allows, and its preparation.
Duration LongestSuite(std::span<const ProfileCase> suite, const Device& device,
                      const MeasuringRules& rules, double share_of_peak = 0.25);

// Bytes of all operands.
Bytes Footprint(const ProfileCase& one);

}  // namespace stagecraft
