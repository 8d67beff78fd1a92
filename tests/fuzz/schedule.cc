// Reads schedules, and runs those whose tasks do not wait for each other in a circle.
#include "costmodel/proto_file.h"
#include "proto/schedule.pb.h"
#include "sim/engine/engine.h"
#include "sim/schedule/deadlock.h"
#include "sim/schedule/schedule_proto.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    ScheduleProto proto;
    ParseProtoText(text, name, extension, &proto);
    const Schedule schedule = ScheduleFromProto(proto, name);
    const std::vector<Duration> durations(schedule.task_count(), Duration::Nanoseconds(1));
    try {
      const Timeline timeline = Engine().Run(schedule, durations);
      CHECK(timeline.makespan().ns() <= schedule.task_count());
    } catch (const DeadlockError& error) {
      throw InputError(error.what());
    }
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
