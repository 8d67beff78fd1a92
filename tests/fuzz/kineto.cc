// Reads traces of Kineto, whole or cut off, and makes timelines of them.
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/temporary_file.h"
#include "tools/recorded/kernel_places.h"
#include "tools/recorded/kineto_reader.h"
#include "tools/recorded/measured_timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const fuzz::TemporaryFile file(data, size, ".json");
  const auto read = [&](CutOff cut_off) {
    std::vector<Recording> recordings = {ReadKineto(file.path(), cut_off)};
    PlaceKernels(recordings[0]);
    const MeasuredTimeline timeline = MakeMeasuredTimeline(recordings);
    CHECK(timeline.record.schedule.task_count() > 0);
  };
  const bool is_whole = fuzz::Accepts([&] { read(CutOff::kRefuse); });
  const bool has_some = fuzz::Accepts([&] { read(CutOff::kTakeWhatIsThere); });
  CHECK(has_some || !is_whole);
  if (has_some) fuzz::CountAccepted();
  return 0;
}
