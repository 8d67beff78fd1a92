// Converts TimelineRecord from and to its proto.
#pragma once

#include <string_view>

#include "proto/timeline.pb.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// Checks everything, including that tasks do not wait in a circle, and throws InputError with the
// path of the offending field: "run.pb: timeline.peak_memory_bytes[2]: ...". In what it returns,
// the durations of all tasks on all devices, those of their ops and those of all measured steps
// each add up within 64 bits.
TimelineRecord TimelineRecordFromProto(const TimelineProto& proto, std::string_view file);
TimelineProto ToProto(const TimelineRecord& record);

}  // namespace stagecraft
