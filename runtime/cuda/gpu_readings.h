// Summarises many readings of a GPU's sensors.
#pragma once

#include <vector>

#include "runtime/profile/op_timer.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// Zero stands for a sensor that gives nothing, and is ignored.
GpuReadings Summarize(const std::vector<DeviceState>& readings);

}  // namespace stagecraft
