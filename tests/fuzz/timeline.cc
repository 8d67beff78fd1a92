// Reads timelines, as `compare` does, compares each with itself, and shows it as a trace.
#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "sim/analysis/schedule_difference.h"
#include "sim/analysis/timeline_comparison.h"
#include "sim/analysis/timeline_errors.h"
#include "sim/schedule/timeline_record_proto.h"
#include "tests/fuzz/fuzzing.h"
#include "tools/trace/trace_view.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    TimelineProto proto;
    ParseProtoText(text, name, extension, &proto);
    const TimelineRecord record = TimelineRecordFromProto(proto, name);
    CHECK(!FindDifference(record.schedule, record.schedule));
    const TimelineComparison comparison = CompareTimelines(record, record);
    CHECK(comparison.step.predicted == comparison.step.measured);
    RequireSound(comparison, name);  // throws another exception than InputError if it is not
    MakeTraceView(
        {.schedule = record.schedule, .timeline = record.timeline, .op_times = &record.op_times});
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
