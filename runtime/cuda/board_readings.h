// What many readings of a board's sensors come to.
#pragma once

#include <vector>

#include "runtime/profile/op_timer.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// Zero is what a sensor says that gives nothing, and counts for nothing.
BoardReadings Summarize(const std::vector<DeviceState>& readings);

}  // namespace stagecraft
