// Summarize: a summary of many readings of a GPU's sensors.
#pragma once

#include <vector>

#include "runtime/profile/op_timer.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// Returns medians and extremes of the readings. Zero stands for a sensor without a value, and is
// ignored.
GpuReadings Summarize(const std::vector<DeviceState>& readings);

}  // namespace stagecraft
