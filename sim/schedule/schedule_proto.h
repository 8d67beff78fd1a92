// Converts Schedule and Timeline from and to their protos.
//
// The readers check everything and throw InputError with the path of the offending field; what they
// return is valid (except for cycles, which the engine reports). A round trip gives an equal value;
// a lane that the schedule does not describe comes back as described of no rank.
#pragma once

#include <string_view>

#include "proto/schedule.pb.h"
#include "proto/timeline.pb.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// `path` names the message in errors: "run.pb: schedule".
Schedule ScheduleFromProto(const ScheduleProto& proto, std::string_view path = "schedule");
ScheduleProto ToProto(const Schedule& schedule);

// Reads starts and ends. Of the schedule inside, if there is one, only the size is compared; read
// it with ScheduleFromProto().
Timeline TimelineFromProto(const TimelineProto& proto, std::string_view path = "timeline");
TimelineProto ToProto(const Timeline& timeline);
// Includes the schedule to which the timeline belongs.
TimelineProto ToProto(const Timeline& timeline, const Schedule& schedule);

}  // namespace stagecraft
