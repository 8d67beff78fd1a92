// Schedule and Timeline at the border: from and to their protos.
//
// The readers check everything and throw InputError with the path of the
// offending field; past them, values are valid (save for cycles, which the
// engine reports). A round trip gives an equal value; a lane the schedule does
// not describe comes back described as of no rank.
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

// Reads starts and ends; the schedule inside, where there is one, is only
// compared in size. Read it with ScheduleFromProto().
Timeline TimelineFromProto(const TimelineProto& proto, std::string_view path = "timeline");
TimelineProto ToProto(const Timeline& timeline);
// With the schedule it belongs to.
TimelineProto ToProto(const Timeline& timeline, const Schedule& schedule);

}  // namespace stagecraft
